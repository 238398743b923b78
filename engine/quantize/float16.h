// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers in float16: inputs, constants and outputs are rounded to half precision, everything between is
// computed in float32. This is what ONNX Runtime's CPU provider computes for float16 operators without a
// kernel of their own: it inserts casts around them.

#include "quantize/plan.h"

namespace quantloupe {

/// Returns a float32 constant rounded to float16.
ConstantPtr roundedToHalf(const Constant& constant);

/// Returns the rounding of a unit in float16, adds its tensors to `plan.tensors`, and notices about weights
/// and activations that exceed float16's largest value, 65504. A constant that other layers read, too, is not
/// rounded.
UnitQuantizers resolveFloat16(Plan& plan, const Unit& unit, const Statistics& statistics);

}  // namespace quantloupe
