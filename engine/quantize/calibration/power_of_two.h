// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scales that are powers of two: 2^-position.

#include "quantize/quantizer.h"

namespace quantloupe {

/// The position whose scale is nearest: round_half_even(-log2(scale)), within -127..127.
int positionOf(double scale);
float scaleOf(int position);
/// Of the scale that spans [min, max] (widened to hold 0; symmetric: [-absmax, absmax]) by Quark's codes: symmetric and signed
/// without the lowest, otherwise all.
int basePosition(float min, float max, const ActivationScheme& scheme);
/// With the scale of `position`. Symmetric: zero point 0, or in the middle for unsigned codes; affine: from min.
TensorQuantizer powerOfTwoQuantizer(float min, float max, const ActivationScheme& scheme, int position);

/// Candidates around the base position: one larger scale, the base, three smaller.
inline constexpr int kPositionsBelow = 1, kPositionsTried = 5;

}  // namespace quantloupe
