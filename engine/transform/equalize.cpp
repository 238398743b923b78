// SPDX-License-Identifier: Apache-2.0
#include "transform/equalize.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/short_text.h"
#include "transform/adaptive_stop.h"
#include "transform/cross_layer_scaling.h"
#include "transform/equalize_profiles.h"
#include "transform/scalable_layer.h"
#include "transform/scale_groups.h"

namespace quantloupe {
namespace {

constexpr float kDeadBelow = 1e-4f, kDeadAbove = 1e4f;

std::vector<EqualizedSet> setsWith(const Graph& graph, const EqualizationOptions& options,
                                   const std::vector<bool>& excluded, std::vector<std::string>& notices) {
    std::vector<EqualizedSet> result;
    std::vector<bool> offUsed(options.off.size(), false);
    for (LayerSet& set : findEqualizationSets(graph, notices, excluded)) {
        EqualizedSet equalized;
        std::vector<std::string> names;
        for (const NodeId id : set.layers) names.push_back(graph.node(id).name);
        for (std::size_t i = 0; i < options.off.size(); ++i) {
            if (options.off[i] != names) continue;
            equalized.enabled = false;
            offUsed[i] = true;
        }
        for (std::size_t j = 0; j + 1 < set.layers.size(); ++j)
            equalized.factors.emplace_back(
                static_cast<std::size_t>(layoutOf(graph, set.layers[j])->outputs()), 1.0f);
        equalized.set = std::move(set);
        result.push_back(std::move(equalized));
    }
    reportUnusedOff(options.off, offUsed, notices);
    return result;
}

std::vector<EqualizedSet> scaleAsAimet(WeightEditor& weights, const EqualizationOptions& options,
                                       const std::vector<bool>& excluded, std::vector<std::string>& notices) {
    std::vector<EqualizedSet> sets = setsWith(weights.graph(), options, excluded, notices);
    const bool adaptive = options.steps < 0;
    AdaptiveStop stop(options.totalLayerDiffThreshold);
    if (adaptive)
        for (const EqualizedSet& equalized : sets)
            for (const NodeId id : equalized.set.layers) weights.layer(id);
    std::vector<std::vector<float>> before;
    for (int step = 0; step < (adaptive ? kMaxPasses : options.steps); ++step) {
        if (adaptive) keepWeights(weights, before);
        for (EqualizedSet& equalized : sets) {
            if (!equalized.enabled) continue;
            const auto factors = scaleSet(weights, equalized.set);
            for (std::size_t j = 0; j < factors.size(); ++j)
                for (std::size_t c = 0; c < factors[j].size(); ++c) equalized.factors[j][c] *= factors[j][c];
        }
        if (!adaptive) continue;
        if (stop.after(changeSince(before, weights))) break;
        if (step + 1 == kMaxPasses) notices.push_back(notConvergedNotice(kMaxPasses));
    }
    return sets;
}

void reportDeadChannels(const Graph& graph, const EqualizedSet& equalized,
                        std::vector<std::string>& notices) {
    for (std::size_t j = 0; j < equalized.factors.size(); ++j) {
        const auto count = std::count_if(equalized.factors[j].begin(), equalized.factors[j].end(),
                                         [](float s) { return s < kDeadBelow || s > kDeadAbove; });
        if (count > 0)
            notices.push_back(
                fmt::format("{} of '{}' {} dead or nearly so: equalization factors outside 1e-4 to 1e4",
                            counted(static_cast<std::size_t>(count), "channel"),
                            graph.node(equalized.set.layers[j]).name, count == 1 ? "is" : "are"));
    }
}

/// Reports that the profile of a tool found no set.
void reportNothing(const Graph& graph, const std::vector<bool>& excluded, std::vector<std::string>& notices) {
    const ScaleGroups general = findScaleGroups(graph, excluded);
    if (general.groups.empty()) {
        notices.push_back(whyNoGroups(general));
        return;
    }
    notices.push_back(fmt::format(
        "the rules of this profile equalize nothing; the profile quantloupe could equalize {} before {}",
        namesOf(graph, general.groups[0].heads), namesOf(graph, general.groups[0].tails)));
}

std::vector<Junction> junctionsOf(const Graph& graph, const std::vector<EqualizedSet>& sets) {
    std::vector<Junction> junctions;
    for (const EqualizedSet& equalized : sets)
        for (std::size_t j = 0; j < equalized.factors.size(); ++j) {
            junctions.push_back(chainJunction(graph, equalized.set.layers[j], equalized.set.layers[j + 1]));
            junctions.back().factors = equalized.factors[j];
            junctions.back().enabled = equalized.enabled;
        }
    return junctions;
}

/// Also for an Add between the layers, if a batch norm was folded into it.
void divideBy(OutputStatistics& statistics, const std::vector<float>& factors) {
    if (statistics.beta.size() != factors.size()) return;
    for (std::size_t c = 0; c < statistics.beta.size(); ++c) {
        statistics.beta[c] /= factors[c];
        statistics.gamma[c] /= factors[c];
    }
}

/// Returns whether a bias was changed.
bool foldHighBiases(WeightEditor& weights, const std::vector<EqualizedSet>& sets,
                    std::span<const OutputStatistics> statistics, std::vector<OutputStatistics>& scaled,
                    std::vector<std::string>& notices) {
    bool possible = false, folded = false;
    for (const EqualizedSet& equalized : sets) {
        if (!equalized.enabled || !equalized.plain) continue;
        std::vector<OutputStatistics> firsts;
        for (std::size_t j = 0; j + 1 < equalized.set.layers.size(); ++j)
            firsts.push_back(statistics[equalized.set.layers[j].index()]);
        const auto amounts = foldHighBias(weights, equalized.set, equalized.factors, firsts, notices);
        for (std::size_t j = 0; j < amounts.size(); ++j) {
            std::vector<float>& beta = scaled[equalized.set.layers[j].index()].beta;
            for (std::size_t c = 0; c < amounts[j].size(); ++c) {
                beta[c] -= amounts[j][c];
                possible = true;
                folded = folded || amounts[j][c] != 0;
            }
        }
    }
    if (!folded)
        notices.emplace_back(
            possible
                ? "the high-bias fold changed nothing, because no bias is high"
                : "the high-bias fold found nothing to fold (it needs an equalization group with a layer "
                  "that a batch norm was folded into)");
    return folded;
}

}  // namespace

void reportUnusedOff(const std::vector<std::vector<std::string>>& off, const std::vector<bool>& used,
                     std::vector<std::string>& notices) {
    for (std::size_t i = 0; i < off.size(); ++i)
        if (!used[i])
            notices.push_back(
                fmt::format("equalization.off names '{}', which is not an equalization group of this model",
                            fmt::join(off[i], "', '")));
}

EqualizeResult equalize(const GraphPtr& graph, const EqualizationOptions& options, bool highBias,
                        std::span<const OutputStatistics> statistics, const std::vector<bool>& excluded,
                        std::vector<std::string>& notices) {
    if (options.steps < -1)
        failInput("equalization.steps is {}: it must be 0 or more, or -1 to repeat until converged",
                  options.steps);
    WeightEditor weights(graph);
    EqualizeResult result;
    if (options.profile == EqualizationProfile::Quantloupe) {
        ProfileResult everywhere = equalizeEverywhere(weights, options, excluded, notices);
        result.sets = std::move(everywhere.sets);
        result.junctions = std::move(everywhere.junctions);
    } else {
        const auto scale = options.profile == EqualizationProfile::Quark ? scaleAsQuark : scaleAsAimet;
        result.sets = scale(weights, options, excluded, notices);
        if (result.sets.empty()) reportNothing(*graph, excluded, notices);
        for (const EqualizedSet& equalized : result.sets) reportDeadChannels(*graph, equalized, notices);
        result.junctions = junctionsOf(*graph, result.sets);
    }
    result.statistics.assign(statistics.begin(), statistics.end());
    for (const Junction& junction : result.junctions) {
        std::set<NodeId> makers(junction.heads.begin(), junction.heads.end());
        for (const TensorId tensor : junction.tensors)
            if (const NodeId maker = graph->tensor(tensor).producer; maker.valid()) makers.insert(maker);
        for (const NodeId maker : makers) divideBy(result.statistics[maker.index()], junction.factors);
    }
    if (highBias)
        result.foldedHighBias = foldHighBiases(weights, result.sets, statistics, result.statistics, notices);
    result.graph = weights.build();
    return result;
}

}  // namespace quantloupe
