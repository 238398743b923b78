// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions and matrix products whose sums are rounded as ONNX Runtime rounds them, bit for bit: where a quantized network is
// simulated, the last bit of a sum decides which code a value on a rounding tie gets, and one code moves all that follows.

#include "runtime/dnnl_adapter.h"

namespace quantloupe {

/// How many products ONNX Runtime adds up before it adds the sum to the result: `columns` of the product (pixels of a convolution's
/// output, columns of a MatMul's), `inner` products an element.
std::size_t orderedBlock(std::size_t columns, std::size_t inner);

/// As makeConvolution(): channels last on both sides, float32. Null for more than 3 spatial dimensions.
std::unique_ptr<Kernel> makeOrderedConvolution(const ConvolutionSpec& spec);

/// As makeMatrixProduct(). Null where `alpha` or the left side's transposition asks for another order than a plain product has.
std::unique_ptr<Kernel> makeOrderedProduct(const MatrixProductSpec& spec);

}  // namespace quantloupe
