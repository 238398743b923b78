// SPDX-License-Identifier: Apache-2.0
#include "runtime/instruction_sets.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace quantloupe {
namespace {

#if defined(__x86_64__)
/// The instruction sets that ONEDNN_MAX_CPU_ISA allows: all of them for a name that is not listed here.
struct Limit {
    bool avx2 = true, avx512 = true, vnni = true, amx = true;
};
Limit limitOfEnvironment() {
    const char* const given = std::getenv("ONEDNN_MAX_CPU_ISA");
    std::string name = given == nullptr ? "" : given;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (name == "SSE41" || name == "AVX") return {false, false, false, false};
    if (name == "AVX2") return {true, false, false, false};
    if (name == "AVX2_VNNI" || name == "AVX2_VNNI_2") return {true, false, true, false};
    if (name == "AVX512_CORE") return {true, true, false, false};
    if (name == "AVX512_CORE_VNNI" || name == "AVX512_CORE_BF16" || name == "AVX512_CORE_FP16")
        return {true, true, true, false};
    return {};
}

/// Whether the processor has AMX with 8-bit integers. Linux grants a process the registers when it asks for
/// them.
bool amxGranted() {
#if defined(__linux__)
    constexpr unsigned kTile = 1u << 24, kInt8 = 1u << 25;  // CPUID leaf 7, EDX
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTile) == 0 || (d & kInt8) == 0) return false;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
    return false;
#endif
}

/// Whether the processor has AVX-VNNI. Clang 14 does not support __builtin_cpu_supports("avxvnni").
bool hasAvxVnni() {
    constexpr unsigned kAvxVnni = 1u << 4;  // CPUID leaf 7, subleaf 1, EAX
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool hasSubleaf = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && a >= 1;
    return hasSubleaf && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kAvxVnni) != 0;
}
#endif

InstructionSets detect() {
    InstructionSets sets;
#if defined(__x86_64__)
    const Limit limit = limitOfEnvironment();
    sets.avx2 = limit.avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    sets.avx512 = sets.avx2 && limit.avx512 && __builtin_cpu_supports("avx512f");
    sets.avxVnni = sets.avx2 && limit.vnni && hasAvxVnni();
    sets.avx512Vnni = sets.avx512 && limit.vnni && __builtin_cpu_supports("avx512vnni") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    sets.avx512Vbmi = sets.avx512Vnni && __builtin_cpu_supports("avx512vbmi");
    sets.amx = sets.avx512Vnni && limit.amx && amxGranted();
#endif
    return sets;
}

}  // namespace

const InstructionSets& instructionSets() {
    static const InstructionSets sets = detect();
    return sets;
}

}  // namespace quantloupe
