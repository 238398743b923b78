// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions and matrix products whose sums are rounded exactly as in ONNX Runtime, and identically on
// every processor: the last bit of a sum decides which code a value on a rounding tie gets, and one different
// code changes everything downstream.

#include <memory>

#include "runtime/operators/kernel.h"
#include "runtime/operators/window.h"

namespace quantloupe {

struct ChannelScale;

struct ConvolutionSpec {
    TensorDesc input, output;  ///< float32, channels last
    Window window;
    std::int64_t groups = 1;
    /// [O, I/groups, k...]; for a transposed convolution [I, O/groups, k...]
    const Constant* weight = nullptr;
    const Constant* bias = nullptr;  ///< [O] or null
    /// Applied to the sums, like a BatchNormalization after the convolution; null for none. Not for
    /// transposed convolutions.
    const ChannelScale* scale = nullptr;
    const Activation* activation = nullptr;
    bool swish = false;  ///< the result is x * sigmoid(x); not for transposed convolutions
};
/// For 1 to 3 spatial dimensions. Input 0 of the kernel is the image; the kernel stores weight and bias.
std::unique_ptr<Kernel> makeConvolution(const ConvolutionSpec& spec);

/// The same for ConvTranspose; the window's padding is cropped from the output.
std::unique_ptr<Kernel> makeTransposedConvolution(const ConvolutionSpec& spec);

struct MatrixProductSpec {
    Dims left, right, output;     ///< row-major; the batch dimensions broadcast, all of the same rank
    bool transposeLeft = false;   ///< rank 2 only
    bool transposeRight = false;  ///< the stored matrices are transposed
    const Constant* constantRight = nullptr;  ///< null: input 1 of the kernel
    const Constant* bias = nullptr;  ///< one value per column, the initial value of the sums, or null
    /// One value per column, added to the sums like an Add after the product, or null.
    const Constant* addedBias = nullptr;
    float alpha = 1;  ///< factor of the product, not of the bias
    const Activation* activation = nullptr;
};
std::unique_ptr<Kernel> makeMatrixProduct(const MatrixProductSpec& spec);

}  // namespace quantloupe
