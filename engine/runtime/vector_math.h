// SPDX-License-Identifier: Apache-2.0
#pragma once
// exp without branches or tables, so that loops over it vectorize. Accurate to a few units in the last place.
// It is Cephes' expf: x = n ln 2 + r, a polynomial in r, and n added to the exponent.

#include <cstdint>
#include <cstring>
#include <limits>

#include "runtime/simd.h"

namespace quantloupe {

QUANTLOUPE_INLINE float fastExp(float given) {
    // Results are 0 below and infinity above, the logarithm of the largest number; NaN passes through.
    constexpr float kLow = -87.3365f, kHigh = 88.72283905f;
    float x = given < kLow ? kLow : given;
    x = x > kHigh ? kHigh : x;
    const float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;  // rounds to the nearest integer
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    // Half of 2^n, because 2^128 is not a number of this type. The half of 2^-126 is taken as 0.
    const std::uint32_t bits = (static_cast<std::uint32_t>(static_cast<std::int32_t>(n)) + 126u) << 23;
    float half;
    std::memcpy(&half, &bits, sizeof half);
    const float value = given > kHigh ? std::numeric_limits<float>::infinity() : p * half * 2.0f;
    return given < kLow ? 0.0f : value;
}

}  // namespace quantloupe
