// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which vector instructions our own kernels use: those of this processor that oneDNN may use, too, so that
// lowering oneDNN's cap (ONEDNN_MAX_CPU_ISA) runs the kernels of a smaller processor on a larger one. The
// numbers are the same on all of them.

namespace quantloupe {

struct InstructionSets {
    bool avx2 = false;    ///< with fused multiply-adds
    bool avx512 = false;  ///< F
    bool avxVnni = false;
    bool avx512Vnni = false;  ///< with BW and VL
};

/// Determined once for the process. Thread-safe.
const InstructionSets& instructionSets();

}  // namespace quantloupe
