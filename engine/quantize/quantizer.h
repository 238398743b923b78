// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scales, zero points and codes. q = clamp(round_half_even(x / scale) + zero_point, quant_min, quant_max), as ONNX's
// QuantizeLinear; x' = (q - zero_point) * scale.

#include <cstdint>
#include <vector>

#include "config/quantization_config.h"
#include "model/constant.h"
#include "runtime/codes.h"

namespace quantloupe {

/// Of an activation: one for the whole tensor.
struct TensorQuantizer {
    float scale = 1;
    int zeroPoint = 0;
    int quantMin = -128, quantMax = 127;
    TieRounding rounding = TieRounding::HalfEven;
    bool operator==(const TensorQuantizer&) const = default;
    FakeQuant fakeQuant() const;
};

/// From an observed range, which is widened to hold 0. Affine: scale = (max - min) / (quant_max - quant_min) with the
/// difference in float32 and the quotient in double, zero_point from the unrounded scale; symmetric: absmax over the largest code
/// (ONNX Runtime's arithmetic). A range of width 0 gives scale 1.
TensorQuantizer quantizerForRange(float min, float max, const ActivationScheme& scheme);

/// Of a weight or bias: per tensor (one scale) or along an axis. A value is code * scale; the code that is stored is code + zero point
/// and lies in quantMin..quantMax.
struct ConstantQuantizer : ConstantCodes {
    int bits = 8;
    int quantMin = -127, quantMax = 127;
    std::vector<std::int32_t> zeroPoints;  ///< one a scale
    ConstantPtr dequantized;
    std::size_t saturated = 0;   ///< bias values beyond int32
    bool inProductScale = true;  ///< of a bias: its scale is that of input times weight
    bool vanished = false;       ///< every code is 0, but not every value
};

/// Memory that it takes.
std::size_t bytesOf(const ConstantQuantizer& quantizer);

/// By the scheme's method (weight_scale.h). An all-zero tensor or channel gets scale 1. Throws Error for NaN or infinity.
ConstantQuantizer quantizeWeight(const Constant& weight, const WeightScheme& scheme, int channelAxis,
                                 TieRounding rounding = TieRounding::HalfEven);

/// The same weight rounded anew with other scales, as many as there were.
ConstantQuantizer roundedAnew(const ConstantQuantizer& known, const Constant& weight, std::vector<float> scales, TieRounding rounding);

/// 32 bits: scale = input scale * weight scale, a list along the last axis if the weight has one (repeated for each group of a transposed
/// convolution). 16 or 8 bits: symmetric with a power of two of its own, of Quark's five candidates.
ConstantQuantizer quantizeBias(const Constant& bias, int bits, float inputScale, const std::vector<float>& weightScales);

}  // namespace quantloupe
