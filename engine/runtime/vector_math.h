// SPDX-License-Identifier: Apache-2.0
#pragma once
// exp and tanh without branches or tables, so that loops over them vectorize. Accurate to a few units in the
// last place.
//
// exp is Cephes' expf: x = n ln 2 + r, a polynomial in r, and n added to the exponent. tanh is the rational
// approximation of Eigen and XLA, on the range outside which tanh rounds to ±1 in float.

#include <cstdint>
#include <cstring>
#include <limits>

namespace quantloupe {

inline float fastExp(float given) {
    // Results are 0 below and infinity above; NaN passes through.
    constexpr float kLow = -87.3365f, kHigh = 88.3762f;
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
    const std::uint32_t bits = (static_cast<std::uint32_t>(static_cast<std::int32_t>(n)) + 127u) << 23;
    float power;
    std::memcpy(&power, &bits, sizeof power);
    const float value = given > kHigh ? std::numeric_limits<float>::infinity() : p * power;
    return given < kLow ? 0.0f : value;
}

inline float fastTanh(float x) {
    const float size = x < 0 ? -x : x;
    const float given = x;
    x = x < -7.90531110763549805f ? -7.90531110763549805f : x;
    x = x > 7.90531110763549805f ? 7.90531110763549805f : x;
    const float s = x * x;
    float p = -2.76076847742355e-16f;
    p = p * s + 2.00018790482477e-13f;
    p = p * s + -8.60467152213735e-11f;
    p = p * s + 5.12229709037114e-08f;
    p = p * s + 1.48572235717979e-05f;
    p = p * s + 6.37261928875436e-04f;
    p = p * s + 4.89352455891786e-03f;
    float q = 1.19825839466702e-06f;
    q = q * s + 1.18534705686654e-04f;
    q = q * s + 2.26843463243900e-03f;
    q = q * s + 4.89352518554385e-03f;
    const float value = x * p / q;
    return size < 0.0004f ? given : value;
}

inline float fastSigmoid(float x) { return 1.0f / (1.0f + fastExp(-x)); }

}  // namespace quantloupe
