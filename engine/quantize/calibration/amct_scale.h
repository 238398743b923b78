// SPDX-License-Identifier: Apache-2.0
#pragma once
// AMCT's scale of a range: what its weights (ARQ) and its HFMG calibration use.

#include "quantize/quantizer.h"

namespace quantloupe {

/// Below this a scale counts as none and becomes 1.
inline constexpr float kAmctLeastScale = 1.192092896e-7f;

/// Symmetric: absmax over 2^(bits-1) - 1, or over 2^(bits-1) where the smallest value has the larger magnitude, so that the lowest
/// code is used; offset 0. Affine: the range widened to hold 0 over 2^bits - 1, offset = round(-2^(bits-1) - min / scale).
struct AmctScale {
    float scale = 1;
    int offset = 0;  ///< the signed zero point
};
AmctScale amctScale(float min, float max, int bits, bool symmetric);

/// As a quantizer of `scheme`'s signedness, with all codes.
TensorQuantizer amctQuantizer(const AmctScale& scale, const ActivationScheme& scheme);

}  // namespace quantloupe
