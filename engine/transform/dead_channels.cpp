// SPDX-License-Identifier: Apache-2.0
#include "transform/dead_channels.h"

#include <algorithm>

#include "transform/scalable_layer.h"
#include "transform/weight_channels.h"

namespace quantloupe {
namespace {

void addDead(const std::vector<float>& ranges, std::vector<bool>& dead) {
    const float largest = ranges.empty() ? 0.0f : *std::max_element(ranges.begin(), ranges.end());
    for (std::size_t c = 0; c < std::min(ranges.size(), dead.size()); ++c)
        if (!(static_cast<double>(ranges[c]) > static_cast<double>(largest) * kDeadRange)) dead[c] = true;
}

double at(const std::vector<float>& factors, std::size_t c) {
    return factors.empty() ? 1.0 : static_cast<double>(factors[c]);
}

bool at(const std::vector<bool>& flags, std::size_t c) { return !flags.empty() && flags[c]; }

}  // namespace

bool isExtreme(float factor) { return factor < 1 / kExtremeFactor || factor > kExtremeFactor; }

std::vector<bool> deadChannels(const Graph& graph, NodeId head, NodeId tail) {
    const auto heads = layoutOf(graph, head), tails = layoutOf(graph, tail);
    std::vector<bool> dead(outputCount(*heads), false);
    addDead(outputRanges(graph.constantOf(graph.node(head).input(1))->floats(), *heads), dead);
    addDead(inputRanges(graph.constantOf(graph.node(tail).input(1))->floats(), *tails), dead);
    return dead;
}

void restoreChannels(WeightEditor& weights, const std::map<NodeId, LayerFactors>& factors) {
    for (const auto& [id, own] : factors) {
        EditedLayer& layer = weights.layer(id);
        const auto original = weights.graph().constantOf(weights.graph().node(id).input(1))->floats();
        const WeightChannels channels(layer.layout);
        const std::size_t cells = channels.first() * channels.second();
        const std::size_t kernel = cells == 0 ? 0 : original.size() / cells;
        for (std::size_t a = 0, cell = 0; a < channels.first(); ++a)
            for (std::size_t b = 0; b < channels.second(); ++b, ++cell) {
                const std::size_t i = channels.input(a, b), o = channels.output(a, b);
                if (!at(own.restoreBefore, i) && !at(own.restoreAfter, o)) continue;
                const double factor = at(own.before, i) / at(own.after, o);
                for (std::size_t k = cell * kernel; k < (cell + 1) * kernel; ++k)
                    layer.weight[k] = static_cast<float>(static_cast<double>(original[k]) * factor);
            }
        if (layer.bias.empty()) continue;
        const auto bias = weights.graph().constantOf(weights.graph().node(id).input(2))->floats();
        for (std::size_t o = 0; o < own.restoreAfter.size(); ++o)
            if (own.restoreAfter[o])
                layer.bias[o] = static_cast<float>(static_cast<double>(bias[o]) / at(own.after, o));
    }
}

}  // namespace quantloupe
