// SPDX-License-Identifier: Apache-2.0
#include "runtime/integer/fake_quant.h"

#include <cmath>

#include "base/half.h"
#include "runtime/simd.h"

namespace quantloupe {
namespace {

/// Without branches, so that loops over it vectorize.
QUANTLOUPE_INLINE float codeFromLow(float x, float scale, float low, float high) {
    const float bottom = low * scale, top = high * scale;
    float bounded = x > bottom ? x : bottom;
    bounded = bounded < top ? bounded : top;
    const float above = bounded / scale - low;  // not negative
    const auto whole = static_cast<float>(static_cast<int>(above));
    return whole + (above - whole >= 0.5f ? 1.0f : 0.0f) + low;
}

QUANTLOUPE_SIMD void applyFromLow(const FakeQuant& quant, const float* source, float* target,
                                  std::size_t count) {
    const float scale = quant.scale, low = quant.low, high = quant.high;
    for (std::size_t i = 0; i < count; ++i) {
        const float x = source[i], rounded = codeFromLow(x, scale, low, high) * scale;
        target[i] = x == x ? rounded : x;
    }
}

QUANTLOUPE_SIMD void applyHalf(const float* source, float* target, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) target[i] = roundToHalf(source[i]);
}

}  // namespace

float codeOf(const FakeQuant& quant, float x) {
    if (std::isnan(x)) return x;
    if (quant.fromLow) return codeFromLow(x, quant.scale, quant.low, quant.high);
    const float code = std::nearbyint(x / quant.scale);
    return code < quant.low ? quant.low : code > quant.high ? quant.high : code;
}

QUANTLOUPE_SIMD void applyFakeQuant(const FakeQuant& quant, const float* source, float* target,
                                    std::size_t count) {
    if (quant.half) return applyHalf(source, target, count);
    if (quant.fromLow) return applyFromLow(quant, source, target, count);
    const float scale = quant.scale, low = quant.low, high = quant.high;
    for (std::size_t i = 0; i < count; ++i) {
        float x = source[i] / scale;  // a division, as in ONNX: x * (1 / scale) rounds differently
        x = x > low ? x : low;        // NaN becomes the lowest code
        x = x > high ? high : x;
        target[i] = ((x + kRound) - kRound) * scale;
    }
}

}  // namespace quantloupe
