// SPDX-License-Identifier: Apache-2.0
#pragma once
// Broadcasting of shapes as in ONNX and NumPy.

#include "runtime/tensor_desc.h"

namespace quantloupe {

/// The shape that both are broadcast to; throws Error if they are incompatible.
Dims broadcastDims(const Dims& left, const Dims& right);

}  // namespace quantloupe
