// SPDX-License-Identifier: Apache-2.0
#include "search/tune_measurements.h"

#include <algorithm>

#include "config/layer_choices.h"
#include "search/tune_numbers.h"
#include "session/studies/leave_one_out.h"
#include "session/studies/skip_groups.h"

namespace quantloupe {
namespace {

constexpr double kWeightOfNumber = 0.05;  // see TuneCandidate::weight

TuneNumbers numbersOf(const Evaluation& evaluation) {
    return {dropOf(*evaluation.floating, *evaluation.quantized), noiseOf(*evaluation.quantized),
            taskMetric(*evaluation.quantized)};
}

}  // namespace

void TuneMeasurements::start(const QuantizationConfig& config, const std::string& transforms) {
    const bool first = m_starts.empty();
    m_starts.push_back({config, transforms});
    m_known.clear();
    m_roughly.clear();
    // What refinement learns for a layer depends on the layers before it; an experiment reuses the latest
    // result.
    m_exact =
        config.refine.biasCorrection == BiasCorrection::Off && config.refine.rounding == Rounding::Nearest;
    m_base = first ? m_session.evaluate(config, Depth::Accuracy, {}, m_cancel)
                   : m_session.evaluateForSearch(config, Depth::Accuracy, m_cancel);
    ++m_evaluations;
    record({}, *m_base);
    if (first) m_notices = m_base->notices;
    findCandidates();
}

void TuneMeasurements::findCandidates() {
    m_candidates.clear();
    m_locked.clear();
    m_quantized = {};
    FloatShare all;
    const auto locked = [&](const std::string& name) {
        const auto settings = config().layers.find(name);
        return settings != config().layers.end() && settings->second.quantize == true;
    };
    for (const SkipGroup& group : skipGroups(m_session, config(), m_cancel)) {
        TuneCandidate candidate{group.owner, group.layers, {}, 0};
        for (const NodeId node : group.nodes) {
            const LayerResult& layer = m_base->layers[node.index()];
            candidate.cost += {1, layer.macs, layer.parameters, layer.macsReason.empty()};
        }
        m_quantized += candidate.cost;
        if (std::ranges::any_of(group.layers, locked)) {
            std::ranges::copy_if(group.layers, std::back_inserter(m_locked), locked);
            continue;
        }
        all += candidate.cost;
        m_candidates.push_back(std::move(candidate));
    }
    if (!all.macsKnown)  // if one layer's MACs are unknown, all layers must be compared by parameters
        for (TuneCandidate& candidate : m_candidates) candidate.cost.macsKnown = false;
    const auto amount = static_cast<double>(amountOf(all, m_options.cost));
    for (TuneCandidate& candidate : m_candidates) {
        const double number = static_cast<double>(candidate.cost.layers) / static_cast<double>(all.layers);
        const double share =
            amount > 0 ? static_cast<double>(amountOf(candidate.cost, m_options.cost)) / amount : number;
        candidate.weight = (1 - kWeightOfNumber) * share + kWeightOfNumber * number;
    }
}

bool TuneMeasurements::hasLeaveOneOut(std::size_t candidate) const {
    return m_base->layers[m_candidates[candidate].owner.index()].leaveOneOut.has_value();
}

std::vector<std::string> TuneMeasurements::layersOf(const TuneSet& set) const {
    std::vector<std::pair<std::size_t, std::string>> layers;
    for (const std::size_t candidate : set)
        for (const std::string& name : m_candidates[candidate].layers)
            layers.emplace_back(m_session.graph().findNode(name)->index(), name);
    std::ranges::sort(layers);
    std::vector<std::string> names;
    for (auto& [index, name] : layers) names.push_back(std::move(name));
    return names;
}

QuantizationConfig TuneMeasurements::configOf(std::size_t start, const TuneSet& set) const {
    return withLayersSkipped(m_starts[start].config, layersOf(set));
}

void TuneMeasurements::checkLimits() const {
    m_cancel.check();
    if (m_options.maxSeconds > 0 && seconds() >= m_options.maxSeconds) throw TuneLimit{TuneEnd::Seconds};
}

TuneNumbers TuneMeasurements::record(const TuneSet& set, const Evaluation& evaluation) {
    const TuneNumbers numbers = numbersOf(evaluation);
    m_known.insert_or_assign(set, numbers);
    FloatShare cost;
    for (const std::size_t candidate : set) cost += m_candidates[candidate].cost;
    m_records.push_back({m_starts.size() - 1, set, *evaluation.quantized, numbers.drop,
                         dropIntervalOf(evaluation), cost,
                         transitionsOf(m_session.graph(), evaluation.layers)});
    if (m_options.improved && std::ranges::count(front(), &m_records.back()) > 0)
        m_options.improved(result());
    return numbers;
}

EvaluationPtr TuneMeasurements::tried(const TuneSet& set, Depth depth) {
    checkLimits();
    if (depth == Depth::Accuracy) ++m_evaluations;
    return m_session.experiment(configOf(m_starts.size() - 1, set), depth, m_cancel);
}

TuneNumbers TuneMeasurements::measure(const TuneSet& set) {
    if (const auto known = m_known.find(set); known != m_known.end()) return known->second;
    const EvaluationPtr evaluation = tried(set, Depth::Accuracy);
    return m_exact ? record(set, *evaluation) : numbersOf(*evaluation);
}

TuneNumbers TuneMeasurements::everythingInFloat() {
    TuneSet all;
    for (std::size_t candidate = 0; candidate < m_candidates.size(); ++candidate) all.insert(candidate);
    return numbersOf(*tried(all, Depth::Accuracy));
}

TuneNumbers TuneMeasurements::measureRoughly(const TuneSet& set) {
    if (const auto known = m_roughly.find(set); known != m_roughly.end()) return known->second;
    return m_roughly.emplace(set, numbersOf(*tried(set, Depth::Rough))).first->second;
}

TuneNumbers TuneMeasurements::measureAndKeep(const TuneSet& set) {
    if (set.empty()) return m_known.at(set);  // start() has already kept its activations
    checkLimits();
    ++m_evaluations;
    const bool known = m_known.contains(set);
    const EvaluationPtr evaluation =
        m_session.evaluateForSearch(configOf(m_starts.size() - 1, set), Depth::Accuracy, m_cancel);
    return known ? m_known.at(set) : record(set, *evaluation);
}

double TuneMeasurements::weightOf(const TuneSet& set) const {
    double weight = 0;
    for (const std::size_t candidate : set) weight += m_candidates[candidate].weight;
    return weight;
}

}  // namespace quantloupe
