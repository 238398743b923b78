// SPDX-License-Identifier: Apache-2.0
#pragma once
// Softmax, LayerNormalization, erf and means of pools as ONNX Runtime computes them, bit for bit (see
// ordered_product.h for why). Float32 on any processor; a fused multiply-add in each where ONNX Runtime has
// one.

#include <cstddef>
#include <memory>

#include "runtime/kernel.h"
#include "runtime/window.h"

namespace quantloupe {

/// exp(x - largest) over their sum.
void orderedSoftmax(const float* in, float* out, std::size_t width);

/// (x - mean) / sqrt(variance + epsilon) * scale + bias; `bias` may be null.
void orderedLayerNorm(const float* in, const float* scale, const float* bias, float epsilon, float* out,
                      std::size_t width);

void orderedErf(const float* in, float* out, std::size_t count);

/// An AveragePool or GlobalAveragePool of 1 to 3 spatial dimensions, channels last on both sides. `plain`:
/// one value after the other, as AveragePool does it since opset 19.
std::unique_ptr<Kernel> makeOrderedAverage(const TensorDesc& input, const Window& window, bool withPadding,
                                           bool plain);

}  // namespace quantloupe
