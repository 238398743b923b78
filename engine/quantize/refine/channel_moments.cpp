// SPDX-License-Identifier: Apache-2.0
// Moments from batch norms.
//
// Over the training data, channel c of a batch norm's output has mean beta[c] and standard deviation
// |gamma[c]|. After folding, these are the moments of its layer's output, adjusted for equalization and
// high-bias folding (Prepared::outputStatistics). They are propagated: through Relu and Clip as a clipped
// Gaussian, added at an Add of independent operands, unchanged by means over positions. Terms: phi, Phi are
// density and distribution of the standard Gaussian. Source: Nagel et al. 2019, appendix C. Cost:
// O(channels). Weaknesses: real pre-activations are not Gaussian; operands of a residual Add are not
// independent (which only affects variances); after a layer without a batch norm nothing is known.
#include "quantize/refine/channel_moments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "model/clip_bounds.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

double density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }
double distribution(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

ChannelMoments clipped(ChannelMoments moments, double low, double high) {
    for (std::size_t c = 0; c < moments.mean.size(); ++c)
        clipGaussian(low, high, moments.mean[c], moments.variance[c]);
    return moments;
}

ChannelMoments added(const ChannelMoments& a, const ChannelMoments& b) {
    if (a.mean.size() != b.mean.size()) return {};
    ChannelMoments sum = a;
    for (std::size_t c = 0; c < sum.mean.size(); ++c) {
        sum.mean[c] += b.mean[c];
        sum.variance[c] += b.variance[c];
    }
    return sum;
}

/// Returns whether the node only removes spatial axes of size 1, as from [N, C, 1, 1] to [N, C].
bool dropsPositions(const Graph& graph, const Node& node, std::size_t channels) {
    const auto& to = graph.tensor(node.output()).shape;
    return to && to->size() == 2 && (*to)[1].value == static_cast<std::int64_t>(channels);
}

ChannelMoments momentsAfter(const Graph& graph, const Node& node, const std::vector<ChannelMoments>& known) {
    if (!node.input(0).valid()) return {};
    const ChannelMoments& in = known[node.input(0).index()];
    if (!in.known()) return {};
    if (const auto bounds = clipBounds(graph, node)) return clipped(in, bounds->low, bounds->high);
    if (isOp(node, "Add"))
        return node.input(1).valid() ? added(in, known[node.input(1).index()]) : ChannelMoments();
    static constexpr std::array kSame = {"Identity", "Dropout", "GlobalAveragePool"};
    if (node.domain.empty() && std::find(kSame.begin(), kSame.end(), node.op) != kSame.end()) return in;
    if ((isOp(node, "Flatten") || isOp(node, "Reshape") || isOp(node, "Squeeze")) &&
        dropsPositions(graph, node, in.mean.size()))
        return in;
    return {};
}

}  // namespace

void clipGaussian(double low, double high, double& mean, double& variance) {
    const double deviation = std::sqrt(variance);
    if (!(deviation > 0)) {
        mean = std::clamp(mean, low, high);
        return;
    }
    const double a = (low - mean) / deviation, b = (high - mean) / deviation;
    const double below = distribution(a), above = distribution(-b), inside = 1 - below - above;
    const double phiA = std::isfinite(a) ? density(a) : 0, phiB = std::isfinite(b) ? density(b) : 0;
    const auto weighted = [](double weight, double value) {
        return weight > 0 && std::isfinite(value) ? weight * value : 0.0;
    };
    const double first =
        weighted(below, low) + weighted(above, high) + mean * inside + deviation * (phiA - phiB);
    const double slopes = weighted(phiA, a) - weighted(phiB, b);
    const double second = weighted(below, low * low) + weighted(above, high * high) + mean * mean * inside +
                          2 * mean * deviation * (phiA - phiB) + variance * (inside + slopes);
    mean = first;
    variance = std::max(0.0, second - first * first);
}

std::vector<ChannelMoments> momentsFromBatchNorms(const Prepared& prepared) {
    const Graph& graph = *prepared.graph;
    std::vector<ChannelMoments> moments(graph.tensorCount());
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        if (!node.output().valid()) continue;
        ChannelMoments& out = moments[node.output().index()];
        const OutputStatistics& spread = prepared.outputStatistics[i];
        if (!spread.known()) {
            out = momentsAfter(graph, node, moments);
            continue;
        }
        out.mean.assign(spread.beta.begin(), spread.beta.end());
        for (const float gamma : spread.gamma)
            out.variance.push_back(static_cast<double>(gamma) * static_cast<double>(gamma));
    }
    return moments;
}

}  // namespace quantloupe
