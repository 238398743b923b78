// SPDX-License-Identifier: Apache-2.0
#include "runtime/fake_quant.h"

#include "runtime/simd.h"

namespace quantloupe {

QUANTLOUPE_SIMD void applyFakeQuant(const FakeQuant& quant, const float* source, float* target, std::size_t count) {
    // Adding and taking away 1.5 * 2^23 rounds to the nearest integer, ties to even, for |x| < 2^22; it vectorizes
    // everywhere, which nearbyint does not.
    constexpr float kRound = 12582912.0f;
    const float scale = quant.scale, low = quant.low, high = quant.high;
    for (std::size_t i = 0; i < count; ++i) {
        float x = source[i] / scale;  // a division, as ONNX says: x * (1 / scale) rounds differently
        x = x < low ? low : x;
        x = x > high ? high : x;
        target[i] = ((x + kRound) - kRound) * scale;
    }
}

QUANTLOUPE_SIMD void applyClip(float low, float high, float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const float x = values[i] < low ? low : values[i];
        values[i] = x > high ? high : x;
    }
}

}  // namespace quantloupe
