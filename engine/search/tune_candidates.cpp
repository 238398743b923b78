// SPDX-License-Identifier: Apache-2.0
#include "search/tune_candidates.h"

#include <algorithm>
#include <tuple>

#include "config/layer_choices.h"
#include "search/tune_numbers.h"
#include "session/studies/layer_work.h"
#include "session/studies/skip_groups.h"

namespace quantloupe {
namespace {

constexpr double kWeightOfNumber = 0.05;  // see TuneOption::weight

bool atLeastAsPrecise(const Precision& a, const Precision& b) {
    return weightBits(a) >= weightBits(b) && activationBits(a) >= activationBits(b) &&
           (!a.isInteger() || b.isInteger());
}

int bitsOf(const Precision& precision) { return weightBits(precision) + activationBits(precision); }

/// Returns the precisions to choose from, the configured one first if it is allowed. For layers without
/// weights, precisions with the same activations are the same.
std::vector<TuneOption> precisionsOf(const Precision& configured, bool weights, const TuneOptions& options) {
    std::vector<TuneOption> list;
    const auto same = [&](const Precision& a, const Precision& b) {
        return a == b || (!weights && a.isInteger() && b.isInteger() && a.activationBits == b.activationBits);
    };
    const auto add = [&](const Precision& precision) {
        if (std::ranges::none_of(list, [&](const TuneOption& o) { return same(o.precision, precision); }))
            list.push_back({precision, precision == configured, 0, 0});
    };
    const auto allowed = [&](const Precision& listed) { return same(listed, configured); };
    if (options.precisions.empty() || std::ranges::any_of(options.precisions, allowed)) add(configured);
    for (const Precision& precision : options.precisions) add(precision);
    if (options.allowFloat) add(Precision::float32());
    return list;
}

/// Whether `b` is useless because of `a`. At the same cost, float does not replace integers, because it is
/// not free: values are converted around the layer.
bool dominates(const TuneOption& a, const TuneOption& b) {
    const bool cheaper =
        a.cost < b.cost || (a.cost == b.cost && a.precision.isInteger() == b.precision.isInteger());
    return cheaper && atLeastAsPrecise(a.precision, b.precision);
}

/// Sorts by cost and removes options that are neither cheaper nor more precise than another.
void keepUseful(std::vector<TuneOption>& options) {
    std::ranges::stable_sort(options, {}, [](const TuneOption& option) {
        return std::tuple(option.cost, !option.precision.isInteger(), -bitsOf(option.precision));
    });
    std::vector<TuneOption> kept;
    for (const TuneOption& option : options)
        if (std::ranges::none_of(kept, [&](const TuneOption& other) { return dominates(other, option); }))
            kept.push_back(option);
    options = std::move(kept);
}

void setWeights(TuneCandidates& candidates) {
    double span = 0;
    std::size_t layers = 0;
    for (const TuneCandidate& candidate : candidates.list) {
        span += candidate.options.back().cost - candidate.options.front().cost;
        layers += candidate.layers.size();
    }
    for (TuneCandidate& candidate : candidates.list) {
        const double number = static_cast<double>(candidate.layers.size()) / static_cast<double>(layers);
        for (std::size_t o = 1; o < candidate.options.size(); ++o) {
            TuneOption& option = candidate.options[o];
            const double share = span > 0 ? (option.cost - candidate.options.front().cost) / span : number;
            option.weight = (1 - kWeightOfNumber) * share + kWeightOfNumber * number;
        }
    }
}

}  // namespace

TuneCandidates findCandidates(Session& session, const QuantizationConfig& config, const Evaluation& base,
                              const TuneOptions& options, const CancelToken& cancel) {
    TuneCandidates found;
    const CostModel costs(options.cost, networkWork(session, base), options.latency);
    for (const LayerWork& layer : costs.work()) found.precisions.push_back(layer.precision);
    const auto locked = [&](const std::string& name) {
        const auto settings = config.layers.find(name);
        return settings != config.layers.end() && settings->second.quantize == true;
    };
    double ofCandidates = 0;
    for (const SkipGroup& group : skipGroups(session, config, cancel)) {
        TuneCandidate candidate{group.owner, group.layers, {}, {}, 0};
        bool weights = false;
        for (const NodeId node : group.nodes) {
            const LayerResult& layer = base.layers[node.index()];
            candidate.share += {1, layer.macs, layer.parameters, layer.macsReason.empty()};
            weights = weights || costs.work()[node.index()].weights > 0;
        }
        found.quantized += candidate.share;
        if (std::ranges::any_of(group.layers, locked)) {
            std::ranges::copy_if(group.layers, std::back_inserter(found.locked), locked);
            continue;
        }
        const Precision configured = costs.work()[group.owner.index()].precision;
        candidate.options = precisionsOf(configured, weights, options);
        for (TuneOption& option : candidate.options)
            for (const NodeId node : group.nodes) option.cost += costs.of(node.index(), option.precision);
        for (const NodeId node : group.nodes)
            ofCandidates += costs.of(node.index(), found.precisions[node.index()]);
        keepUseful(candidate.options);
        const auto best = std::ranges::max_element(
            candidate.options, {}, [](const TuneOption& option) { return bitsOf(option.precision); });
        candidate.best = static_cast<std::uint16_t>(best - candidate.options.begin());
        if (!candidate.options.empty()) found.list.push_back(std::move(candidate));
    }
    setWeights(found);
    if (!countsFloat(options.cost)) found.fixedCost = costs.total() - ofCandidates;
    found.startCost = found.fixedCost + ofCandidates;
    return found;
}

QuantizationConfig configOf(const QuantizationConfig& start, const TuneCandidates& candidates,
                            const TuneChoice& choice, const Graph& graph) {
    std::vector<std::pair<std::size_t, std::string>> floating;
    QuantizationConfig config = start;
    for (std::size_t c = 0; c < choice.size(); ++c) {
        const TuneCandidate& candidate = candidates.list[c];
        const TuneOption& option = candidate.options[choice[c]];
        if (option.asConfigured) continue;
        for (const std::string& name : candidate.layers) {
            if (option.precision == Precision::float32())
                floating.emplace_back(graph.findNode(name)->index(), name);
            else
                config = withPrecision(std::move(config), {name}, option.precision);
        }
    }
    std::ranges::sort(floating);
    std::vector<std::string> names;
    for (auto& [index, name] : floating) names.push_back(std::move(name));
    return withLayersSkipped(std::move(config), names);
}

FloatShare shareOf(const TuneCandidates& candidates, const TuneChoice& choice) {
    FloatShare share;
    for (std::size_t c = 0; c < choice.size(); ++c)
        if (!candidates.list[c].options[choice[c]].precision.isInteger()) share += candidates.list[c].share;
    return share;
}

double costOf(const TuneCandidates& candidates, const TuneChoice& choice) {
    double cost = candidates.fixedCost;
    for (std::size_t c = 0; c < choice.size(); ++c) cost += candidates.list[c].options[choice[c]].cost;
    return cost;
}

}  // namespace quantloupe
