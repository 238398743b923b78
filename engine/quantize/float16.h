// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers in float16: inputs, constants and outputs are rounded to half precision, and the computation in
// between is in float32. ONNX Runtime's CPU provider does the same for operators without a float16 kernel: it
// inserts casts around them.

#include "quantize/plan.h"

namespace quantloupe {

/// Returns a float32 constant rounded to float16.
ConstantPtr roundedToHalf(const Constant& constant);

/// Returns the rounding of a unit in float16. Adds its tensors to `plan.tensors`, and notices about weights
/// and activations that exceed the largest float16 value, 65504. A constant that other layers also read is
/// not rounded.
UnitQuantizers resolveFloat16(Plan& plan, const Unit& unit, const Statistics& statistics);

}  // namespace quantloupe
