// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quantization and dequantization in one step, in float: the simulation of a Q/DQ pair.

#include <cstddef>

namespace quantloupe {

/// x -> round_half_even(clamp(x / scale, low, high)) * scale with low = quant_min - zero_point and high =
/// quant_max - zero_point. The bounds are integers, so this equals ONNX's
/// DequantizeLinear(QuantizeLinear(x)). NaN becomes the lowest code, as in ONNX Runtime with 8 and 16 bits;
/// with fewer bits, exported models get NaN's code of the 8-bit type instead.
///
/// `fromLow`: (round_half_up(clamp(x, low * scale, high * scale) / scale - low) + low) * scale, each step in
/// float32, as AIMET's operator computes it (determined by running it on values around ties). The subtraction
/// loses bits, so values slightly below a half are rounded up, too. NaN stays NaN.
///
/// `half`: values are rounded to float16 (base/half.h) instead; the other members are not used.
struct FakeQuant {
    float scale = 1;
    float low = 0, high = 0;
    bool fromLow = false;
    bool half = false;
    bool operator==(const FakeQuant&) const = default;
};

/// Returns round(x / scale), clamped to the bounds, as an integer; NaN stays NaN. Not for `half`.
float codeOf(const FakeQuant& quant, float x);

/// `source` and `target` may be the same.
void applyFakeQuant(const FakeQuant& quant, const float* source, float* target, std::size_t count);

}  // namespace quantloupe
