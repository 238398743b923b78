// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scales, zero points and codes. q = clamp(round_half_even(x / scale) + zero_point, quant_min, quant_max), as
// ONNX's QuantizeLinear; x' = (q - zero_point) * scale.

#include <cstdint>
#include <vector>

#include "config/quantization_config.h"
#include "model/constant.h"
#include "runtime/integer/codes.h"

namespace quantloupe {

/// Quantizer of an activation, always per tensor, or its rounding to float16.
struct TensorQuantizer {
    float scale = 1;
    int zeroPoint = 0;
    int quantMin = -128, quantMax = 127;
    TieRounding rounding = TieRounding::HalfEven;
    bool half = false;  ///< float16: there are no codes, and the other members are not used
    bool operator==(const TensorQuantizer&) const = default;
    static TensorQuantizer float16();
    FakeQuant fakeQuant() const;
};

/// Returns the quantizer for an observed range, which is widened to include 0, with the arithmetic of ONNX
/// Runtime up to 1.30. Affine: scale = (max - min) / (quant_max - quant_min) with the difference in float32
/// (in ONNX Runtime 1.31, in float64) and the quotient in double; zero_point follows from the unrounded
/// scale. Symmetric: absmax over the largest code. A range of width 0 gives scale 1 and zero point 0.
TensorQuantizer quantizerForRange(float min, float max, const ActivationScheme& scheme);

/// Quantizer of a weight or bias: per tensor (one scale) or along an axis. A value is code * scale; the
/// stored code is code + zero point, which lies in quantMin..quantMax.
struct ConstantQuantizer : ConstantCodes {
    int bits = 8;
    int quantMin = -127, quantMax = 127;
    std::vector<std::int32_t> zeroPoints;  ///< one per scale
    ConstantPtr dequantized;
    std::size_t saturated = 0;   ///< number of bias values outside int32
    bool inProductScale = true;  ///< for a bias: its scale is input scale * weight scale
    bool vanished = false;       ///< every code is 0 although not every value is
};

/// Returns the memory that the quantizer takes, in bytes.
std::size_t bytesOf(const ConstantQuantizer& quantizer);

/// Quantizes a weight with the method of the scheme (weight_scale.h). A tensor or channel of zeros gets scale
/// 1. Throws Error if the weight contains NaN or infinity.
ConstantQuantizer quantizeWeight(const Constant& weight, const WeightScheme& scheme, int channelAxis,
                                 TieRounding rounding = TieRounding::HalfEven);

/// Rounds the same weight again with other scales; their number must not change.
ConstantQuantizer roundedAnew(const ConstantQuantizer& known, const Constant& weight,
                              std::vector<float> scales, TieRounding rounding);

/// Quantizes a bias. 32 bits: scale = input scale * weight scale, one per element of the last axis if the
/// weight is quantized per channel (repeated for each group of a transposed convolution). 16 or 8 bits:
/// symmetric with its own power-of-two scale, chosen from Quark's five candidates.
ConstantQuantizer quantizeBias(const Constant& bias, int bits, float inputScale,
                               const std::vector<float>& weightScales);

}  // namespace quantloupe
