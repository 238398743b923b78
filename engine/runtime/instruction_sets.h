// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vector instructions that the kernels use: those of the processor up to the limit in the environment
// variable ONEDNN_MAX_CPU_ISA, whose values are those of oneDNN. It runs the kernels for older processors on
// a newer processor. The results are the same on all of them.

namespace quantloupe {

struct InstructionSets {
    bool avx2 = false;    ///< with fused multiply-adds
    bool avx512 = false;  ///< F
    bool avxVnni = false;
    bool avx512Vnni = false;  ///< with BW and VL
    bool avx512Vbmi = false;  ///< with avx512Vnni: permutations of bytes
    bool amx = false;         ///< tiles of 8-bit integers; with avx512Vnni
};

/// Determined once for the process. Thread-safe.
const InstructionSets& instructionSets();

}  // namespace quantloupe
