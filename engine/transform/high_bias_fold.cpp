// SPDX-License-Identifier: Apache-2.0
// High-bias fold ("bias absorption").
//
// Equalization can leave large biases, which widen the activation's range. If a channel is practically never
// below c, Relu passes c on unchanged, so c can be subtracted from this layer's bias and W c added to the
// next layer's. Terms: gamma, beta of the batch norm folded into the layer, divided by its equalization
// factor; c = max(0, beta - 3 |gamma|) before a Relu or PRelu (three standard deviations), c = beta without
// an activation. Source: Nagel et al. 2019, section 4.1.3; order and conditions are AIMET's. Cost: O(weights
// of the next layer). Limitations: not exact. A value below c is clipped at a different point, and if the
// next layer has padding, its border pixels get more of W c than before. Strided ConvTranspose layers, where
// an output uses only some kernel positions, are left out.
#include "transform/high_bias_fold.h"

#include <Eigen/Core>
#include <cmath>

#include "base/error.h"
#include "transform/scalable_layer.h"
#include "transform/weight_channels.h"

namespace quantloupe {
namespace {

std::vector<float> absorbable(const OutputStatistics& statistics, const std::vector<float>& factors,
                              bool activation) {
    std::vector<float> c(factors.size());
    for (std::size_t i = 0; i < c.size(); ++i) {
        const float gamma = statistics.gamma[i] / factors[i];
        const float beta = statistics.beta[i] / factors[i];
        c[i] = activation ? std::max(0.0f, beta - 3.0f * std::fabs(gamma)) : beta;
    }
    return c;
}

/// Adds (W summed over the kernel) * c to the bias, rounded to float32 only once.
void absorb(EditedLayer& layer, const std::vector<float>& c) {
    const std::vector<float> sums = kernelSums(layer.weight, layer.layout.dims);
    if (layer.layout.depthwise) {
        for (std::size_t i = 0; i < c.size(); ++i) layer.bias[i] += sums[i] * c[i];
        return;
    }
    const bool outputFirst = layer.layout.outputAxis == 0;
    const Eigen::Index outputs = layer.layout.outputs(), inputs = static_cast<Eigen::Index>(c.size());
    using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> weight(sums.data(), outputFirst ? outputs : inputs,
                                            outputFirst ? inputs : outputs);
    const Eigen::VectorXd amounts = Eigen::Map<const Eigen::VectorXf>(c.data(), inputs).cast<double>();
    const Eigen::MatrixXd wide = weight.cast<double>();
    const Eigen::VectorXd added = outputFirst ? Eigen::VectorXd(wide * amounts) : wide.transpose() * amounts;
    for (Eigen::Index o = 0; o < outputs; ++o)
        layer.bias[static_cast<std::size_t>(o)] += static_cast<float>(added[o]);
}

/// Returns why no bias can be moved between the layers; empty if it can.
std::string whyNot(const Graph& graph, NodeId first, NodeId second) {
    const Node& next = graph.node(second);
    if (isStridedTranspose(next)) return "it is a strided ConvTranspose";
    for (const NodeId layer : {first, second}) {
        const Attributes& attributes = graph.node(layer).attributes;
        if (attributes.real("alpha", 1) != 1 || attributes.real("beta", 1) != 1)
            return fmt::format("the Gemm '{}' has alpha or beta set", graph.node(layer).name);
    }
    if (!isPerChannel(*graph.constantOf(next.input(2)), outputCount(*layoutOf(graph, second))))
        return "its bias does not have one value per channel";
    return {};
}

}  // namespace

std::vector<std::vector<float>> foldHighBias(WeightEditor& weights, const LayerSet& set,
                                             std::span<const std::vector<float>> factors,
                                             std::span<const OutputStatistics> statistics,
                                             std::vector<std::string>& notices) {
    std::vector<std::vector<float>> absorbed(set.layers.size() - 1);
    for (std::size_t j = 0; j + 1 < set.layers.size(); ++j) {
        EditedLayer& first = weights.layer(set.layers[j]);
        EditedLayer& second = weights.layer(set.layers[j + 1]);
        if (!statistics[j].known() || first.bias.empty() || second.bias.empty()) continue;
        if (const std::string reason = whyNot(weights.graph(), set.layers[j], set.layers[j + 1]);
            !reason.empty()) {
            notices.push_back(fmt::format("no high bias is folded into '{}': {}",
                                          weights.graph().node(set.layers[j + 1]).name, reason));
            continue;
        }
        const std::vector<float> c = absorbable(statistics[j], factors[j], set.activationBetween[j]);
        for (std::size_t i = 0; i < c.size(); ++i) first.bias[i] -= c[i];
        absorb(second, c);
        absorbed[j] = c;
    }
    return absorbed;
}

}  // namespace quantloupe
