// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions and matrix products whose sums are rounded as ONNX Runtime rounds them, bit for bit, and on
// every processor alike: the last bit of a sum decides which code a value on a rounding tie gets, and one
// code moves all that follows.

#include <memory>

#include "runtime/kernel.h"
#include "runtime/window.h"

namespace quantloupe {

struct ConvolutionSpec {
    TensorDesc input, output;  ///< float32, channels last
    Window window;
    std::int64_t groups = 1;
    const Constant* weight =
        nullptr;                     ///< [O, I/groups, k...]; of a transposed convolution [I, O/groups, k...]
    const Constant* bias = nullptr;  ///< [O] or null
    const Activation* activation = nullptr;
};
/// For 1 to 3 spatial dimensions. Inputs of the kernel: 0 = the image; weight and bias are kept inside.
std::unique_ptr<Kernel> makeConvolution(const ConvolutionSpec& spec);

/// The same for ConvTranspose; the window's padding is taken off the output.
std::unique_ptr<Kernel> makeTransposedConvolution(const ConvolutionSpec& spec);

struct MatrixProductSpec {
    Dims left, right, output;  ///< row-major; the batch dimensions broadcast, all of the same rank
    bool transposeLeft = false, transposeRight = false;  ///< of the last two dimensions, rank 2 only
    const Constant* constantRight = nullptr;             ///< null: input 1 of the kernel
    const Constant* bias = nullptr;  ///< one value a column that the sums begin with, or null
    const Constant* addedBias =
        nullptr;      ///< one value a column that is added to the sums, as an Add after the product does
    float alpha = 1;  ///< factor of the product, not of the bias
    const Activation* activation = nullptr;
};
std::unique_ptr<Kernel> makeMatrixProduct(const MatrixProductSpec& spec);

}  // namespace quantloupe
