// SPDX-License-Identifier: Apache-2.0
#include "quantize/quantizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace quantloupe {

FakeQuant TensorQuantizer::fakeQuant() const {
    return {scale, static_cast<float>(quantMin - zeroPoint), static_cast<float>(quantMax - zeroPoint)};
}

TensorQuantizer quantizerForRange(float min, float max, const ActivationScheme& scheme) {
    TensorQuantizer quantizer;
    const int codes = 1 << scheme.bits;
    quantizer.quantMin = scheme.isSigned ? -codes / 2 : 0;
    quantizer.quantMax = quantizer.quantMin + codes - 1;
    min = std::min(min, 0.0f);
    max = std::max(max, 0.0f);
    if (scheme.symmetric) {
        // Unsigned codes have their zero in the middle.
        const int middle = scheme.isSigned ? 0 : codes / 2;
        quantizer.zeroPoint = middle;  // QuantizeLinear saturates at the type's ends, so the lowest code may occur
        const double scale = static_cast<double>(std::max(-min, max)) / (codes / 2 - 1);
        quantizer.scale = scale < std::numeric_limits<float>::min() ? 1.0f : static_cast<float>(scale);
        return quantizer;
    }
    const double scale = static_cast<double>(max - min) / (codes - 1);
    if (scale < std::numeric_limits<float>::min()) {
        quantizer.scale = 1.0f;
        quantizer.zeroPoint = quantizer.quantMin;
        return quantizer;
    }
    quantizer.scale = static_cast<float>(scale);
    quantizer.zeroPoint = std::clamp(static_cast<int>(std::nearbyint(quantizer.quantMin - min / scale)),
                                     quantizer.quantMin, quantizer.quantMax);
    return quantizer;
}

namespace {

/// outer x channels x inner of a constant along an axis; one channel for axis -1.
struct ChannelWalk {
    std::size_t outer = 1, channels = 1, inner = 1;
    ChannelWalk(const Dims& dims, int axis) {
        for (std::size_t d = 0; d < dims.size(); ++d) {
            const auto extent = static_cast<std::size_t>(dims[d]);
            const int position = static_cast<int>(d);
            (axis < 0 || position > axis ? inner : position == axis ? channels : outer) *= extent;
        }
    }
    template <typename F>
    void forEach(F f) const {
        std::size_t i = 0;
        for (std::size_t o = 0; o < outer; ++o)
            for (std::size_t c = 0; c < channels; ++c)
                for (std::size_t k = 0; k < inner; ++k) f(i++, c);
    }
};

}  // namespace

ConstantQuantizer quantizeWeight(const Constant& weight, const WeightScheme& scheme, int channelAxis) {
    ConstantQuantizer quantizer;
    quantizer.axis = scheme.perChannel ? channelAxis : -1;
    quantizer.quantMax = (1 << (scheme.bits - 1)) - 1;
    quantizer.quantMin = -quantizer.quantMax - (scheme.restricted ? 0 : 1);
    const std::span<const float> values = weight.floats();
    const ChannelWalk walk(weight.dims(), quantizer.axis);
    std::vector<float> absmax(walk.channels, 0.0f);
    walk.forEach([&](std::size_t i, std::size_t c) {
        if (!std::isfinite(values[i]))
            failInput("the weight holds NaN or infinity and cannot be quantized; keep the layer in float");
        absmax[c] = std::max(absmax[c], std::fabs(values[i]));
    });
    for (const float range : absmax) {
        const double scale = static_cast<double>(range) / quantizer.quantMax;
        quantizer.scales.push_back(scale < std::numeric_limits<float>::min() ? 1.0f : static_cast<float>(scale));
    }
    quantizer.codes.resize(values.size());
    std::vector<float> dequantized(values.size());
    walk.forEach([&](std::size_t i, std::size_t c) {
        const float code = std::clamp(std::nearbyint(values[i] / quantizer.scales[c]),
                                      static_cast<float>(quantizer.quantMin), static_cast<float>(quantizer.quantMax));
        quantizer.codes[i] = static_cast<std::int32_t>(code);
        dequantized[i] = code * quantizer.scales[c];
    });
    quantizer.dequantized = Constant::fromFloats(weight.dims(), std::move(dequantized));
    return quantizer;
}

ConstantQuantizer quantizeBias(const Constant& bias, float inputScale, const std::vector<float>& weightScales) {
    constexpr double kLargest = std::numeric_limits<std::int32_t>::max();
    ConstantQuantizer quantizer;
    quantizer.quantMin = std::numeric_limits<std::int32_t>::min();
    quantizer.quantMax = std::numeric_limits<std::int32_t>::max();
    const std::span<const float> values = bias.floats();
    const bool perChannel = weightScales.size() > 1 && weightScales.size() == values.size();
    quantizer.axis = perChannel ? static_cast<int>(bias.dims().size()) - 1 : -1;  // [1, N] is a bias of a Gemm, too
    for (const float scale : weightScales) quantizer.scales.push_back(inputScale * scale);
    std::vector<float> dequantized(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float scale = quantizer.scales[perChannel ? i : 0];
        double code = std::nearbyint(static_cast<double>(values[i]) / static_cast<double>(scale));
        if (std::fabs(code) > kLargest) ++quantizer.saturated;
        code = std::clamp(code, -kLargest, kLargest);
        quantizer.codes.push_back(static_cast<std::int32_t>(code));
        dequantized[i] = static_cast<float>(quantizer.codes.back()) * scale;
    }
    quantizer.dequantized = Constant::fromFloats(bias.dims(), std::move(dequantized));
    return quantizer;
}

}  // namespace quantloupe
