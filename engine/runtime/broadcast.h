// SPDX-License-Identifier: Apache-2.0
#pragma once
// ONNX's (numpy's) broadcasting of shapes.

#include "runtime/tensor_desc.h"

namespace quantloupe {

/// The shape that both broadcast to; throws Error if they do not fit.
Dims broadcastDims(const Dims& left, const Dims& right);

/// How to walk an operand while the output `to` is walked row by row: one stride a dimension of `to`, 0 where it repeats.
std::vector<std::size_t> broadcastStrides(const Dims& from, const Dims& to);

}  // namespace quantloupe
