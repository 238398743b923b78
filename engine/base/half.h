// SPDX-License-Identifier: Apache-2.0
#pragma once
// IEEE 754 half precision (float16), as ONNX's Cast converts to and from it.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace quantloupe {

/// Returns the float16 value nearest to x, ties to even; magnitudes of 65520 and above become infinite. Has
/// no branches, so that loops vectorize.
inline float roundToHalf(float x) {
    constexpr float kLeastNormal = 0x1p-14f, kLargest = 65504.0f;
    // Adding this rounds to multiples of 2^-24, the distance of subnormal float16 values.
    constexpr float kSubnormal = 0.75f;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    // Rounds the mantissa from 23 to 10 bits.
    const std::uint32_t rounded = (bits + 0xFFFu + ((bits >> 13) & 1u)) & ~0x1FFFu;
    const float magnitude = std::fabs(x);
    const float normal = std::fabs(std::bit_cast<float>(rounded));
    const float subnormal = (magnitude + kSubnormal) - kSubnormal;
    float result = magnitude < kLeastNormal ? subnormal : normal;
    result = result > kLargest ? std::numeric_limits<float>::infinity() : result;
    result = std::copysign(result, x);
    return x == x ? result : x;
}

inline float halfToFloat(std::uint16_t half) {
    const int exponent = (half >> 10) & 31;
    const int mantissa = half & 1023;
    const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
    if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
    return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

/// Returns the bits of roundToHalf(x).
inline std::uint16_t floatToHalf(float x) {
    const float value = roundToHalf(x);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00u);
    if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7C00u);
    if (magnitude < 0x1p-14f)
        return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(magnitude * 0x1p24f));
    // The exponent's bias is 127 in float32 and 15 in float16.
    return static_cast<std::uint16_t>(sign | (((bits & 0x7FFFFFFFu) >> 13) - ((127u - 15u) << 10)));
}

}  // namespace quantloupe
