// SPDX-License-Identifier: Apache-2.0
#pragma once
// ONNX's (numpy's) broadcasting of shapes.

#include "runtime/tensor_desc.h"

namespace quantloupe {

/// The shape that both broadcast to; throws Error if they do not fit.
Dims broadcastDims(const Dims& left, const Dims& right);

}  // namespace quantloupe
