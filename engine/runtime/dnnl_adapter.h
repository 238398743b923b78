// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wraps oneDNN (API of version 2 or 3) in a few functions; no other file includes its headers.
//
// Primitives are created for a single thread: workers share them, and every worker provides its own
// scratchpad. The caller of a kernel must have limited OpenMP to one thread (runtime/workers.h); otherwise
// several threads run inside one primitive.

#include <memory>

#include "runtime/operators/kernel.h"
#include "runtime/operators/window.h"

namespace quantloupe {

/// Instruction sets that oneDNN may use, according to the processor and ONEDNN_MAX_CPU_ISA. Our own kernels
/// use instructionSets().
struct DnnlCap {
    bool avx2 = true, avx512 = true, vnni = true, amx = true;
};
DnnlCap dnnlCap();

/// Input and output must be channels last.
std::unique_ptr<Kernel> makeMaxPool(const TensorDesc& input, const TensorDesc& output, const Window& window);

}  // namespace quantloupe
