// SPDX-License-Identifier: Apache-2.0
#include "runtime/instruction_sets.h"

#include "runtime/dnnl_adapter.h"

namespace quantloupe {
namespace {

InstructionSets detect() {
    InstructionSets sets;
#if defined(__x86_64__)
    const DnnlCap cap = dnnlCap();
    sets.avx2 = cap.avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    sets.avx512 = sets.avx2 && cap.avx512 && __builtin_cpu_supports("avx512f");
    sets.avxVnni = sets.avx2 && cap.vnni && __builtin_cpu_supports("avxvnni");
    sets.avx512Vnni = sets.avx512 && cap.vnni && __builtin_cpu_supports("avx512vnni") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
    return sets;
}

}  // namespace

const InstructionSets& instructionSets() {
    static const InstructionSets sets = detect();
    return sets;
}

}  // namespace quantloupe
