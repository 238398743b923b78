// SPDX-License-Identifier: Apache-2.0
#pragma once
// oneDNN (v2 API) behind a few functions: nothing else includes its headers.
//
// Primitives are made for one thread each: workers share them, and every worker brings its own scratchpad. The caller of
// a kernel must have limited OpenMP to one thread (runtime/workers.h), or two threads fight inside one convolution.

#include <memory>
#include <optional>

#include "runtime/kernel.h"
#include "runtime/window.h"

namespace quantloupe {

/// What oneDNN may use, by the processor and by ONEDNN_MAX_CPU_ISA; our own kernels keep to it.
enum class IsaCap { BelowAvx2, BelowVnni, None };
IsaCap dnnlIsaCap();

struct ConvolutionSpec {
    TensorDesc input, output;  ///< float32, channels last
    Window window;
    std::int64_t groups = 1;
    const Constant* weight = nullptr;  ///< [O, I/groups, k...]
    const Constant* bias = nullptr;    ///< [O] or null
    const Activation* activation = nullptr;
};
/// Inputs of the kernel: 0 = the image; weight and bias are kept inside, in the layout that oneDNN likes.
std::unique_ptr<Kernel> makeConvolution(const ConvolutionSpec& spec);

/// The same with a weight [I, O/groups, k...]; the window's padding is taken off the output.
std::unique_ptr<Kernel> makeTransposedConvolution(const ConvolutionSpec& spec);

struct MatrixProductSpec {
    Dims left, right, output;  ///< row-major; the batch dimensions broadcast, all of the same rank
    bool transposeLeft = false, transposeRight = false;  ///< of the last two dimensions, rank 2 only
    const Constant* constantRight = nullptr;             ///< null: input 1 of the kernel
    const Constant* bias = nullptr;  ///< one value a column, or null
    float alpha = 1;                 ///< factor of the product, not of the bias
    const Activation* activation = nullptr;
};
std::unique_ptr<Kernel> makeMatrixProduct(const MatrixProductSpec& spec);

enum class PoolKind { Max, Average, AverageWithPadding };
/// Channels last on both sides.
std::unique_ptr<Kernel> makePool(PoolKind kind, const TensorDesc& input, const TensorDesc& output, const Window& window);

}  // namespace quantloupe
