// SPDX-License-Identifier: Apache-2.0
#pragma once
// Power-of-two scales, 2^-position.

#include "quantize/quantizer.h"

namespace quantloupe {

/// With larger positions, or smaller than its negative, scales would not be floats.
constexpr int kLargestPosition = 127;

/// Returns the position of the nearest power of two: round_half_even(-log2(scale)), clamped to -127..127.
int positionOf(double scale);
float scaleOf(int position);
/// Returns the position of the scale that maps [min, max] (widened to include 0; symmetric: [-absmax,
/// absmax]) to Quark's codes: all codes, but without the lowest one if symmetric and signed.
int basePosition(float min, float max, const ActivationScheme& scheme);
/// Returns the quantizer with the scale of `position`. Symmetric: zero point 0, or the middle code if
/// unsigned; affine: the zero point follows from min.
TensorQuantizer powerOfTwoQuantizer(float min, float max, const ActivationScheme& scheme, int position);
/// Rounds the scale to the nearest power of two, and adjusts the zero point so that the lower end of the
/// range stays the same.
void roundToPowerOfTwo(TensorQuantizer& quantizer, const ActivationScheme& scheme);

/// Candidates around the base position: one larger scale, the base, three smaller scales.
inline constexpr int kPositionsBelow = 1, kPositionsTried = 5;

}  // namespace quantloupe
