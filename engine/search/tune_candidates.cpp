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

/// Half precision has 11 significant bits, so close to the largest values its steps are those of a signed
/// integer of 12 bits.
constexpr int kIntegerBitsOfFloat16 = 12;

bool atLeastAsPrecise(const Precision& a, const Precision& b) {
    if (a.isInteger() && !b.isInteger()) return false;
    const bool half = a == Precision::float16() && b.isInteger();
    return (half ? kIntegerBitsOfFloat16 : weightBits(a)) >= weightBits(b) &&
           (half ? kIntegerBitsOfFloat16 : activationBits(a)) >= activationBits(b);
}

/// A larger tuple is more precise. Activations count first among precisions with as many bits, because their
/// range is less well known than that of weights; integers before float16, see atLeastAsPrecise().
std::tuple<int, int, bool> precisionRank(const Precision& precision) {
    return {weightBits(precision) + activationBits(precision), activationBits(precision),
            precision.isInteger()};
}

/// Returns the precisions to choose from, the configured one first if it is allowed. For layers without
/// weights, precisions with the same activation bits are equivalent.
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
    // In an order of their own, so that the result does not depend on that of the list.
    std::vector<Precision> ranked = options.precisions;
    std::ranges::sort(ranked, {}, precisionRank);
    for (const Precision& precision : ranked) add(precision);
    if (options.allowFloat) add(Precision::float32());
    return list;
}

/// Returns whether `a` makes `b` useless. At the same cost, float does not replace integers, because it is
/// not free: values have to be converted before and after the layer.
bool dominates(const TuneOption& a, const TuneOption& b) {
    const bool cheaper =
        a.cost < b.cost || (a.cost == b.cost && a.precision.isInteger() == b.precision.isInteger());
    return cheaper && atLeastAsPrecise(a.precision, b.precision);
}

/// Sorts the options by cost and removes those that are neither cheaper nor more precise than another one.
void keepUseful(std::vector<TuneOption>& options) {
    std::ranges::stable_sort(options, {}, [](const TuneOption& option) {
        const auto [bits, activations, integer] = precisionRank(option.precision);
        return std::tuple(option.cost, !integer, -bits, -activations);
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
        const LayerSettings* const own = config.settingsOf(name);
        return own != nullptr && (own->quantize == true || (own->precision && own->precision->isInteger()));
    };
    double ofCandidates = 0;
    for (const SkipGroup& group : skipGroups(session, config, cancel)) {
        TuneCandidate candidate{group.owner, group.layers, group.nodes, {}, {}, 0};
        bool weights = false;
        for (const NodeId node : group.nodes) {
            const LayerResult& layer = base.layers[node.index()];
            candidate.share += {1, layer.macs, layer.ownParameters, layer.macsReason.empty()};
            weights = weights || costs.work()[node.index()].weights > 0;
        }
        found.quantized += candidate.share;
        if (std::ranges::any_of(group.layers, locked)) {
            std::ranges::copy_if(group.layers, std::back_inserter(found.locked), locked);
            continue;
        }
        const Precision configured = costs.work()[group.owner.index()].precision;
        candidate.options = precisionsOf(configured, weights, options);
        found.allowStart =
            found.allowStart && std::ranges::any_of(candidate.options, &TuneOption::asConfigured);
        for (TuneOption& option : candidate.options)
            for (const NodeId node : group.nodes) option.cost += costs.of(node.index(), option.precision);
        for (const NodeId node : group.nodes)
            ofCandidates += costs.of(node.index(), found.precisions[node.index()]);
        keepUseful(candidate.options);
        const auto best = std::ranges::max_element(
            candidate.options, {}, [](const TuneOption& option) { return precisionRank(option.precision); });
        candidate.best = static_cast<std::uint16_t>(best - candidate.options.begin());
        if (!candidate.options.empty()) found.list.push_back(std::move(candidate));
    }
    setWeights(found);
    // A layer in float that this search does not change has no cost, if only layers in float have one.
    found.others = countsFloat(options.cost)
                       ? std::vector<Precision>(costs.work().size(), Precision::integer(8, 8))
                       : found.precisions;
    if (!countsFloat(options.cost))
        found.fixedCost = costs.total() + costs.saved(found.precisions) - ofCandidates;
    std::vector<Precision> start = found.others;
    for (const TuneCandidate& candidate : found.list)
        for (const NodeId node : candidate.nodes) start[node.index()] = found.precisions[node.index()];
    found.startCost = found.fixedCost + ofCandidates - costs.saved(start);
    if (std::ranges::any_of(costs.work(), [](const LayerWork& layer) { return !layer.shared.empty(); }))
        found.sharing = std::make_shared<const CostModel>(costs);
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
    if (!candidates.sharing) return cost;
    std::vector<Precision> precisions = candidates.others;
    for (std::size_t c = 0; c < choice.size(); ++c)
        for (const NodeId node : candidates.list[c].nodes)
            precisions[node.index()] = candidates.list[c].options[choice[c]].precision;
    return cost - candidates.sharing->saved(precisions);
}

}  // namespace quantloupe
