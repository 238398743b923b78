// SPDX-License-Identifier: Apache-2.0
// A bias is added to the accumulator as int32 in units of input scale x weight scale. Channels with tiny
// weights (a dead filter with a folded batch norm) have scales so small that their bias does not fit. The
// tools handle this as follows (according to their code and results):
//
// - ONNX Runtime (quantize_static since 1.21), and Quantloupe's own set of operators: for int8 and int16
//   weights with zero point 0, the scale is raised until input scale x weight scale is at least
//   1.0001 * 2 |bias| / (2^32 - 2). Per tensor, the largest |bias| counts.
// - AIMET 2.42: weight scales are at least 2^-23. Then as above with |bias| / (2^31 - 2^15), even if the bias
//   is not quantized. If the layer's own output is quantized, the scale is also raised until input scale x
//   weight scale / output scale is at least 2^-23.5, and until the bias and the output's zero point fit
//   together.
//
// A channel of zeros has scale 1, as in ONNX Runtime, so that its bias is rounded to multiples of the input
// scale. With Quantloupe's own set of operators, it gets the largest scale of the other channels.
//
// Weakness: the weights of such channels lose precision, down to a few codes, as they do in these tools.
#include "quantize/raised_scales.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "quantize/channel_walk.h"

namespace quantloupe {
namespace {

/// Returns for each scale the largest |value| that has this scale.
std::vector<double> largestOf(std::size_t scales, std::size_t values, auto value) {
    std::vector<double> largest(scales, 0.0);
    for (std::size_t i = 0; i < values; ++i)
        largest[i % scales] = std::max(largest[i % scales], std::fabs(value(i)));
    return largest;
}

void raiseAsOnnxRuntime(const RaisedScalesInput& layer, std::vector<float>& scales) {
    const bool signedCodes = layer.weight.quantMin < 0;
    const bool centered = std::ranges::all_of(layer.weight.zeroPoints, [](std::int32_t z) { return z == 0; });
    if (!layer.quantizedBias || layer.bias == nullptr || !signedCodes || !centered || layer.weight.bits <= 4)
        return;
    constexpr double kCodes = 4294967294.0, kMargin = 1.0001;
    const std::span<const float> bias = layer.bias->floats();
    const auto largest =
        largestOf(scales.size(), bias.size(), [&](std::size_t i) { return static_cast<double>(bias[i]); });
    for (std::size_t c = 0; c < scales.size(); ++c) {
        // With scales per channel, NumPy 2 multiplies in float32 here.
        const double twice =
            layer.weight.axis < 0
                ? kMargin * (2 * largest[c])
                : static_cast<double>(static_cast<float>(kMargin) * (2 * static_cast<float>(largest[c])));
        const double smallest = twice / kCodes;
        const double product = static_cast<double>(layer.inputScale) * static_cast<double>(scales[c]);
        if (product < smallest && product > 0)
            scales[c] = static_cast<float>(static_cast<double>(scales[c]) * (smallest / product));
    }
}

void lowerForZeros(const RaisedScalesInput& layer, std::vector<float>& scales) {
    if (layer.bias == nullptr || std::ranges::find(scales, 1.0f) == scales.end()) return;
    const Constant& values = *layer.weight.dequantized;
    std::vector<bool> zero(scales.size(), true);
    ChannelWalk(values.dims(), layer.weight.axis).forEach([&](std::size_t i, std::size_t channel) {
        if (values.floats()[i] != 0) zero[channel] = false;
    });
    float largest = 0;
    for (std::size_t c = 0; c < scales.size(); ++c)
        if (!zero[c]) largest = std::max(largest, scales[c]);
    for (std::size_t c = 0; c < scales.size(); ++c)
        if (zero[c] && scales[c] == 1 && largest > 0) scales[c] = largest;
}

void raiseAsAimet(const RaisedScalesInput& layer, std::vector<float>& scales) {
    constexpr double kLargest = 2147483648.0 - 32768.0;
    const auto input = static_cast<double>(layer.inputScale);
    for (float& scale : scales) scale = std::max(scale, std::numeric_limits<float>::epsilon());
    const std::span<const float> bias =
        layer.bias != nullptr ? layer.bias->floats() : std::span<const float>();
    const auto raise = [&](const std::vector<double>& largest) {
        for (std::size_t c = 0; c < scales.size(); ++c)
            scales[c] =
                static_cast<float>(std::max(static_cast<double>(scales[c]), largest[c] / (kLargest * input)));
    };
    raise(largestOf(scales.size(), bias.size(), [&](std::size_t i) { return static_cast<double>(bias[i]); }));
    if (layer.output == nullptr) return;
    const TensorQuantizer& output = *layer.output;
    const float kSmallestRequantization = std::exp2(-23.5f);
    const float least = kSmallestRequantization * output.scale / layer.inputScale;
    for (float& scale : scales) scale = std::max(scale, least);
    const auto zero = static_cast<float>(output.quantMin - output.zeroPoint);
    const std::size_t values = std::max(bias.size(), scales.size());
    raise(largestOf(scales.size(), values, [&](std::size_t i) {
        const float unit = layer.inputScale * scales[i % scales.size()];
        const float sum = std::nearbyint((i < bias.size() ? bias[i] : 0.0f) / unit) +
                          std::nearbyint(zero * output.scale / unit);
        return static_cast<double>(sum * unit);
    }));
}

}  // namespace

std::optional<std::vector<float>> raisedScales(OperatorSet tool, const RaisedScalesInput& layer) {
    std::vector<float> scales = layer.weight.scales;
    if (!(layer.inputScale > 0)) return std::nullopt;
    if (tool == OperatorSet::Layers) lowerForZeros(layer, scales);
    if (tool == OperatorSet::OnnxRuntime || tool == OperatorSet::Layers) raiseAsOnnxRuntime(layer, scales);
    if (tool == OperatorSet::Aimet) raiseAsAimet(layer, scales);
    if (scales == layer.weight.scales) return std::nullopt;
    return scales;
}

}  // namespace quantloupe
