// SPDX-License-Identifier: Apache-2.0
#pragma once
// oneDNN (v2 API) behind a few functions: nothing else includes its headers.
//
// Primitives are made for one thread each: workers share them, and every worker brings its own scratchpad. The caller of
// a kernel must have limited OpenMP to one thread (runtime/workers.h), or two threads fight inside one primitive.

#include <memory>

#include "runtime/kernel.h"
#include "runtime/window.h"

namespace quantloupe {

/// What oneDNN may use, by the processor and by ONEDNN_MAX_CPU_ISA. Our own kernels ask instructionSets().
struct DnnlCap {
    bool avx2 = true, avx512 = true, vnni = true;
};
DnnlCap dnnlCap();

/// Channels last on both sides.
std::unique_ptr<Kernel> makeMaxPool(const TensorDesc& input, const TensorDesc& output, const Window& window);

}  // namespace quantloupe
