// SPDX-License-Identifier: Apache-2.0
#include "quantize/quantizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/error.h"
#include "quantize/channel_walk.h"
#include "quantize/weight_scale.h"

namespace quantloupe {

FakeQuant TensorQuantizer::fakeQuant() const {
    return {scale, static_cast<float>(quantMin - zeroPoint), static_cast<float>(quantMax - zeroPoint),
            rounding == TieRounding::Aimet, half};
}

TensorQuantizer TensorQuantizer::float16() {
    TensorQuantizer quantizer;
    quantizer.half = true;
    return quantizer;
}

TensorQuantizer quantizerForRange(float min, float max, const ActivationScheme& scheme) {
    TensorQuantizer quantizer;
    const int codes = 1 << scheme.bits;
    quantizer.quantMin = scheme.isSigned ? -codes / 2 : 0;
    quantizer.quantMax = quantizer.quantMin + codes - 1;
    min = std::min(min, 0.0f);
    max = std::max(max, 0.0f);
    float width = max - min;
    if (!std::isfinite(width)) width = std::numeric_limits<float>::max();
    const double scale = scheme.symmetric ? static_cast<double>(std::max(-min, max)) / (codes / 2 - 1)
                                          : static_cast<double>(width) / (codes - 1);
    if (scale < std::numeric_limits<float>::min()) return quantizer;  // scale 1, zero point 0
    quantizer.scale = static_cast<float>(scale);
    // If symmetric, the lowest code may occur, because QuantizeLinear saturates at the ends of the type.
    quantizer.zeroPoint = scheme.symmetric
                              ? (scheme.isSigned ? 0 : codes / 2)
                              : std::clamp(static_cast<int>(std::nearbyint(quantizer.quantMin - min / scale)),
                                           quantizer.quantMin, quantizer.quantMax);
    return quantizer;
}

namespace {

/// Rounds all values with the given scales and zero points, and records whether all codes vanished.
void roundAll(ConstantQuantizer& quantizer, const Constant& constant, const ChannelWalk& walk,
              TieRounding rounding) {
    const std::span<const float> values = constant.floats();
    std::int32_t least = quantizer.quantMin, most = quantizer.quantMax;
    if (!quantizer.zeroPoints.empty()) {
        const auto [low, high] = std::ranges::minmax(quantizer.zeroPoints);
        least -= high;
        most -= low;
    }
    quantizer.codes = {values.size(), least, most};
    std::vector<float> dequantized(values.size());
    bool anyCode = false, anyValue = false;
    std::vector<FakeQuant> channels;
    for (std::size_t c = 0; c < quantizer.scales.size(); ++c)
        channels.push_back(TensorQuantizer{quantizer.scales[c], quantizer.zeroPoints[c], quantizer.quantMin,
                                           quantizer.quantMax, rounding}
                               .fakeQuant());
    walk.forEach([&](std::size_t i, std::size_t c) {
        const float code = codeOf(channels[c], values[i]);
        quantizer.codes.set(i, static_cast<std::int32_t>(code));
        dequantized[i] = code * quantizer.scales[c];
        anyCode = anyCode || code != 0;
        anyValue = anyValue || values[i] != 0;
    });
    quantizer.vanished = anyValue && !anyCode;
    quantizer.dequantized = Constant::fromFloats(constant.dims(), std::move(dequantized));
}

}  // namespace

std::size_t bytesOf(const ConstantQuantizer& quantizer) {
    return sizeof(quantizer) + quantizer.codes.bytes() +
           quantizer.scales.size() * (sizeof(float) + sizeof(std::int32_t)) +
           (quantizer.dequantized ? quantizer.dequantized->bytes().size() : 0);
}

ConstantQuantizer quantizeWeight(const Constant& weight, const WeightScheme& scheme, int channelAxis,
                                 TieRounding rounding) {
    ConstantQuantizer quantizer;
    quantizer.bits = scheme.bits;
    quantizer.axis = scheme.perChannel ? channelAxis : -1;
    std::tie(quantizer.quantMin, quantizer.quantMax) = weightCodes(scheme);
    const std::span<const float> values = weight.floats();
    const ChannelWalk walk(weight.dims(), quantizer.axis);
    std::vector<std::vector<float>> channels(walk.channels);
    for (auto& channel : channels) channel.reserve(walk.outer * walk.inner);
    walk.forEach([&](std::size_t i, std::size_t c) {
        if (!std::isfinite(values[i]))
            failInput("the weight contains NaN or infinity and cannot be quantized; keep the layer in float");
        channels[c].push_back(values[i]);
    });
    for (const auto& channel : channels) {
        const WeightScale found = weightScale(channel, scheme);
        quantizer.scales.push_back(found.scale);
        quantizer.zeroPoints.push_back(found.zeroPoint);
    }
    roundAll(quantizer, weight, walk, rounding);
    return quantizer;
}

ConstantQuantizer roundedAnew(const ConstantQuantizer& known, const Constant& weight,
                              std::vector<float> scales, TieRounding rounding) {
    ConstantQuantizer quantizer = known;
    quantizer.scales = std::move(scales);
    roundAll(quantizer, weight, ChannelWalk(weight.dims(), quantizer.axis), rounding);
    return quantizer;
}

ConstantQuantizer quantizeBias(const Constant& bias, int bits, float inputScale,
                               const std::vector<float>& weightScales) {
    if (bits < 32) {
        WeightScheme own;
        own.bits = bits;
        own.powerOfTwo = true;
        own.method = WeightMethod::Mse;
        ConstantQuantizer quantizer = quantizeWeight(bias, own, 0);
        quantizer.inProductScale = false;
        return quantizer;
    }
    constexpr double kLargest = std::numeric_limits<std::int32_t>::max();
    ConstantQuantizer quantizer;
    quantizer.bits = 32;
    quantizer.quantMin = std::numeric_limits<std::int32_t>::min();
    quantizer.quantMax = std::numeric_limits<std::int32_t>::max();
    const std::span<const float> values = bias.floats();
    const bool perChannel = weightScales.size() > 1 && values.size() % weightScales.size() == 0;
    // [1, N] is a bias of a Gemm, too
    quantizer.axis = perChannel ? static_cast<int>(bias.dims().size()) - 1 : -1;
    if (perChannel)
        for (std::size_t i = 0; i < values.size(); ++i)
            quantizer.scales.push_back(inputScale * weightScales[i % weightScales.size()]);
    else
        for (const float scale : weightScales) quantizer.scales.push_back(inputScale * scale);
    quantizer.zeroPoints.assign(quantizer.scales.size(), 0);
    std::vector<float> dequantized(values.size());
    std::vector<std::int32_t> codes;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float scale = quantizer.scales[perChannel ? i : 0];
        double code = std::nearbyint(static_cast<double>(values[i]) / static_cast<double>(scale));
        if (std::isnan(code)) failInput("the bias contains NaN, or its scale is 0; keep the layer in float");
        if (std::fabs(code) > kLargest) ++quantizer.saturated;
        code = std::clamp(code, -kLargest, kLargest);
        codes.push_back(static_cast<std::int32_t>(code));
        dequantized[i] = static_cast<float>(codes.back()) * scale;
    }
    quantizer.codes = CompactIntegers(codes);
    quantizer.dequantized = Constant::fromFloats(bias.dims(), std::move(dequantized));
    return quantizer;
}

}  // namespace quantloupe
