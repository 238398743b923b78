// SPDX-License-Identifier: Apache-2.0
// Bias correction from channel means.
//
// Rounding changes a weight by dW, and so the mean of output channel o by the sum over input channels i of
// (dW[o, i] summed over the kernel) E[x_i]. This is the same for every image, so it is subtracted from the
// bias. Source: Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction"
// (2019), section 4.2. Cost: O(weights). Weaknesses: zero padding is not taken into account, so borders are
// corrected too much; E[x] is measured in the float network, not in the quantized one (refine_layers.h
// measures both if there is data). Transposed convolutions with strides are left out because each of their
// outputs depends only on some positions of the kernel.
#include "quantize/refine/bias_correction.h"

#include "transform/scalable_layer.h"
#include "transform/weight_channels.h"

namespace quantloupe {

std::string whyBiasStays(const Graph& graph, const Unit& unit) {
    if (!unit.bias.valid()) return "has no bias";
    const auto layout = layoutOf(graph, unit.layer);
    if (!layout) return "has a weight with an unexpected shape";
    if (isStridedTranspose(graph.node(unit.layer))) return "is a transposed convolution with strides";
    const Constant* bias = graph.constantOf(unit.bias);
    if (bias == nullptr || static_cast<std::size_t>(bias->size()) != outputCount(*layout) ||
        graph.tensor(unit.bias).consumers.size() != 1)
        return "does not have its own bias with one value per channel";
    return {};
}

std::vector<float> biasForMeans(const Graph& graph, const Unit& unit, std::span<const float> rounded,
                                const std::vector<double>& means) {
    const auto layout = layoutOf(graph, unit.layer);
    if (means.size() != inputCount(*layout)) return {};
    const WeightChannels channels(*layout);
    const auto exact = graph.constantOf(unit.weight)->floats();
    const auto bias = graph.constantOf(unit.bias)->floats();
    std::vector<double> values(bias.begin(), bias.end());
    const std::size_t cells = channels.first() * channels.second();
    const std::size_t kernel = cells == 0 ? 0 : exact.size() / cells;
    std::size_t w = 0;
    for (std::size_t a = 0; a < channels.first(); ++a)
        for (std::size_t b = 0; b < channels.second(); ++b) {
            double sum = 0;
            for (std::size_t k = 0; k < kernel; ++k, ++w)
                sum += static_cast<double>(rounded[w]) - static_cast<double>(exact[w]);
            values[channels.output(a, b)] -= sum * means[channels.input(a, b)];
        }
    return {values.begin(), values.end()};
}

}  // namespace quantloupe
