// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scale of a range as AMCT computes it for weights (ARQ) and in HFMG calibration.

#include "quantize/quantizer.h"

namespace quantloupe {

/// A smaller scale is replaced by 1.
inline constexpr float kAmctLeastScale = 1.192092896e-7f;

/// Symmetric: absmax / (2^(bits-1) - 1), or absmax / 2^(bits-1) if the minimum has the larger magnitude, so
/// that the lowest code is used; offset 0. Affine: the range, widened to include 0, divided by 2^bits - 1;
/// offset = round(-2^(bits-1) - min / scale).
struct AmctScale {
    float scale = 1;
    int offset = 0;  ///< the signed zero point
};
AmctScale amctScale(float min, float max, int bits, bool symmetric);

/// Converts the scale to a quantizer with the signedness of `scheme` that uses all codes.
TensorQuantizer amctQuantizer(const AmctScale& scale, const ActivationScheme& scheme);

}  // namespace quantloupe
