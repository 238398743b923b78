// SPDX-License-Identifier: Apache-2.0
#pragma once
// The float model that a script with quantize_static reads. Internal to the export.

#include "quantize/units.h"

namespace quantloupe {

/// Returns the transformed model with what quantize_static needs:
/// - All tensors that `units` quantize have a type. It leaves those in float whose type it cannot infer, for
///   example after operators of com.microsoft.
/// - Biases of a quantized Gemm are vectors.
/// - The opset has QuantizeLinear, with scales per channel or 16 bits if they are used. For scales per
///   channel, quantize_static does not raise the opset, but writes a model that cannot be loaded; otherwise
///   it converts the model, but changes what an Upsample computes.
/// If only the opset for 16 bits cannot be reached, that is left to quantize_static. Throws
/// Error(Unsupported) if the opset cannot be raised otherwise.
GraphPtr floatModelFor(const Prepared& prepared, const UnitList& units, bool perChannel, bool sixteenBits);

}  // namespace quantloupe
