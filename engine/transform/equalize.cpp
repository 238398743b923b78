// SPDX-License-Identifier: Apache-2.0
#include "transform/equalize.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "transform/cross_layer_scaling.h"

namespace quantloupe {
namespace {

constexpr float kDeadBelow = 1e-4f, kDeadAbove = 1e4f;

std::vector<std::string> namesOf(const Graph& graph, const LayerSet& set) {
    std::vector<std::string> names;
    for (const NodeId id : set.layers) names.push_back(graph.node(id).name);
    return names;
}

std::vector<EqualizedSet> setsWith(const Graph& graph, const std::vector<std::vector<std::string>>& off,
                                   std::vector<std::string>& notices) {
    std::vector<EqualizedSet> result;
    std::vector<bool> offUsed(off.size(), false);
    for (LayerSet& set : findEqualizationSets(graph, notices)) {
        EqualizedSet equalized;
        const auto names = namesOf(graph, set);
        for (std::size_t i = 0; i < off.size(); ++i) {
            if (off[i] != names) continue;
            equalized.enabled = false;
            offUsed[i] = true;
        }
        for (std::size_t j = 0; j + 1 < set.layers.size(); ++j) {
            const Node& first = graph.node(set.layers[j]);
            const auto layout = weightLayout(first, graph.constantOf(first.input(1))->dims());
            equalized.factors.emplace_back(static_cast<std::size_t>(layout->outputs()), 1.0f);
        }
        equalized.set = std::move(set);
        result.push_back(std::move(equalized));
    }
    for (std::size_t i = 0; i < off.size(); ++i)
        if (!offUsed[i])
            notices.push_back(fmt::format("equalization.off names '{}', which are no set of this graph",
                                          fmt::join(off[i], "', '")));
    return result;
}

void tellDeadChannels(const Graph& graph, const EqualizedSet& equalized, std::vector<std::string>& notices) {
    for (std::size_t j = 0; j < equalized.factors.size(); ++j) {
        const auto count = std::count_if(equalized.factors[j].begin(), equalized.factors[j].end(),
                                         [](float s) { return s < kDeadBelow || s > kDeadAbove; });
        if (count > 0)
            notices.push_back(fmt::format(
                "{} channel{} of '{}' {} dead or nearly so: equalization factors outside 1e-4 to 1e4", count,
                count == 1 ? "" : "s", graph.node(equalized.set.layers[j]).name, count == 1 ? "is" : "are"));
    }
}

void foldHighBiases(WeightEditor& weights, const std::vector<EqualizedSet>& sets,
                    std::span<const OutputStatistics> statistics, std::vector<std::string>& notices) {
    std::size_t absorbed = 0;
    for (const EqualizedSet& equalized : sets) {
        if (!equalized.enabled) continue;
        std::vector<OutputStatistics> firsts;
        for (std::size_t j = 0; j + 1 < equalized.set.layers.size(); ++j)
            firsts.push_back(statistics[equalized.set.layers[j].index()]);
        absorbed += foldHighBias(weights, equalized.set, equalized.factors, firsts, notices);
    }
    if (absorbed == 0)
        notices.push_back(
            "the high-bias fold found nothing to fold (it needs layers of an equalization set that a "
            "batch norm was folded into)");
}

}  // namespace

EqualizeResult equalize(const GraphPtr& graph, const EqualizationOptions& options, bool highBias,
                        std::span<const OutputStatistics> statistics, std::vector<std::string>& notices) {
    if (options.steps < 0)
        failInput("equalization.steps is {}: it must be 0 or more (adaptive steps are not available)",
                  options.steps);
    WeightEditor weights(graph);
    EqualizeResult result;
    result.sets = setsWith(*graph, options.off, notices);
    for (int step = 0; step < options.steps; ++step) {
        for (EqualizedSet& equalized : result.sets) {
            if (!equalized.enabled) continue;
            const auto factors = scaleSet(weights, equalized.set);
            for (std::size_t j = 0; j < factors.size(); ++j)
                for (std::size_t c = 0; c < factors[j].size(); ++c) equalized.factors[j][c] *= factors[j][c];
        }
    }
    for (const EqualizedSet& equalized : result.sets) tellDeadChannels(*graph, equalized, notices);
    if (highBias) foldHighBiases(weights, result.sets, statistics, notices);
    result.graph = weights.build();
    return result;
}

}  // namespace quantloupe
