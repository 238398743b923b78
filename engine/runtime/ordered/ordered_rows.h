// SPDX-License-Identifier: Apache-2.0
#pragma once
// Softmax, LayerNormalization, erf and means of pools as ONNX Runtime computes them, bit for bit (for the
// reason see ordered_product.h). Float32 on any processor, with fused multiply-adds where ONNX Runtime has
// them.

#include <cstddef>
#include <memory>

#include "runtime/operators/kernel.h"
#include "runtime/operators/window.h"

namespace quantloupe {

/// exp(x - largest), divided by the sum of these.
void orderedSoftmax(const float* in, float* out, std::size_t width);

/// For each row: (x - mean) / sqrt(variance + epsilon) * scale + bias; `bias` may be null, and `out` may be
/// `in`.
void orderedLayerNorm(const float* in, const float* scale, const float* bias, float epsilon, float* out,
                      std::size_t rows, std::size_t width);

void orderedErf(const float* in, float* out, std::size_t count);

/// An AveragePool or GlobalAveragePool with 1 to 3 spatial dimensions, input and output channels last.
/// `plain`: adds one value after the other.
std::unique_ptr<Kernel> makeOrderedAverage(const TensorDesc& input, const Window& window, bool withPadding,
                                           bool plain);

}  // namespace quantloupe
