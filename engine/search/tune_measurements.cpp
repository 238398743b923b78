// SPDX-License-Identifier: Apache-2.0
#include "search/tune_measurements.h"

#include <algorithm>
#include <limits>

#include "base/process_group.h"
#include "search/tune_numbers.h"
#include "session/studies/leave_one_out.h"

namespace quantloupe {

TuneMeasurements::TuneMeasurements(Session& session, const TuneOptions& options, const CancelToken& cancel)
    : m_session(session), m_options(options), m_cancel(cancel), m_store(session, options) {}

void TuneMeasurements::start(const QuantizationConfig& config, const std::string& transforms) {
    const bool first = m_starts.empty();
    m_known.clear();
    m_roughly.clear();
    m_sensitivities.clear();
    m_exact = layersAreIndependent(config);
    m_base = first ? m_session.evaluate(config, Depth::Accuracy, {}, m_cancel)
                   : m_session.evaluateForSearch(config, Depth::Accuracy, m_cancel);
    ++m_evaluations;
    if (first) m_notices = m_base->notices;
    TuneCandidates candidates = findCandidates(m_session, config, *m_base, m_options, m_cancel);
    const TuneChoice choice(candidates.list.size(), 0);
    const QuantizationConfig lowest = quantloupe::configOf(config, candidates, choice, m_session.graph());
    if (lowest != config) recordUnchanged({config, transforms, candidates});
    m_starts.push_back({config, transforms, std::move(candidates)});
    if (lowest == config) {
        recordAndStore(choice, *m_base);
    } else if (const auto known = stored(choice, false)) {
        record(choice, *known);
    } else {  // regardless of the limits, so that there is a result
        ++m_evaluations;
        recordAndStore(choice, *m_session.evaluateForSearch(lowest, Depth::Accuracy, m_cancel));
    }
}

/// Adds the configuration itself to the curve. It need not be one of the choices: where a more precise
/// option is as cheap, it is the only one.
void TuneMeasurements::recordUnchanged(Start start) {
    if (!start.candidates.allowStart) return;
    start.candidates.list.clear();
    start.candidates.fixedCost = start.candidates.startCost;
    start.candidates.sharing.reset();  // considered in this cost
    m_starts.push_back(std::move(start));
    record({}, measurementOf(*m_base));
    m_known.clear();
}

TuneChoice TuneMeasurements::mostPrecise() const {
    TuneChoice choice;
    for (const TuneCandidate& candidate : candidates()) choice.push_back(candidate.best);
    return choice;
}

bool TuneMeasurements::hasLeaveOneOut(std::size_t candidate) const {
    return m_base->layers[candidates()[candidate].owner.index()].leaveOneOut.has_value();
}

QuantizationConfig TuneMeasurements::configOf(std::size_t start, const TuneChoice& choice) const {
    return quantloupe::configOf(m_starts[start].config, m_starts[start].candidates, choice,
                                m_session.graph());
}

void TuneMeasurements::checkLimits() const {
    m_cancel.check();
    if (m_options.maxSeconds <= 0) return;
    bool over = seconds() >= m_options.maxSeconds;
    if (ProcessGroup* group = m_session.group())  // the clocks of the processes differ
        over = !group->fromFirst("time limit", [&] { return std::string(over ? "over" : ""); }).empty();
    if (over) throw TuneLimit{TuneEnd::Seconds};
}

TuneMeasurement TuneMeasurements::measurementOf(const Evaluation& evaluation) const {
    return {{dropOf(*evaluation.floating, *evaluation.quantized), noiseOf(*evaluation.quantized),
             taskMetric(*evaluation.quantized).value, dropIntervalOf(evaluation)},
            *evaluation.quantized,
            transitionsOf(m_session.graph(), evaluation.layers)};
}

TuneNumbers TuneMeasurements::record(const TuneChoice& choice, const TuneMeasurement& measured) {
    m_known.insert_or_assign(choice, measured.numbers);
    const TuneCandidates& candidates = m_starts.back().candidates;
    m_records.push_back({m_starts.size() - 1, choice, measured, shareOf(candidates, choice),
                         quantloupe::costOf(candidates, choice)});
    if (m_options.improved && std::ranges::count(front(), &m_records.back()) > 0)
        m_options.improved(result());
    return measured.numbers;
}

TuneNumbers TuneMeasurements::recordAndStore(const TuneChoice& choice, const Evaluation& evaluation) {
    const TuneMeasurement measured = measurementOf(evaluation);
    m_store.add(currentConfig(choice), false, measured);
    return record(choice, measured);
}

std::optional<TuneMeasurement> TuneMeasurements::stored(const TuneChoice& choice, bool rough) {
    if (!m_store.enabled()) return std::nullopt;
    return m_store.find(currentConfig(choice), rough);
}

/// Evaluates a choice as a variation of the stored activations, and saves the result if it is exact.
TuneMeasurement TuneMeasurements::tried(const TuneChoice& choice, Depth depth) {
    checkLimits();
    if (depth == Depth::Accuracy) ++m_evaluations;
    const QuantizationConfig edited = currentConfig(choice);
    TuneMeasurement measured = measurementOf(*m_session.experiment(edited, depth, m_cancel));
    if (m_exact) m_store.add(edited, depth == Depth::Rough, measured);
    return measured;
}

TuneNumbers TuneMeasurements::evaluated(const TuneChoice& choice, bool onCurve) {
    if (const auto known = m_known.find(choice); known != m_known.end()) return known->second;
    const auto saved = stored(choice, false);
    const TuneMeasurement measured = saved ? *saved : tried(choice, Depth::Accuracy);
    return onCurve && (saved || m_exact) ? record(choice, measured) : measured.numbers;
}

TuneNumbers TuneMeasurements::measureRoughly(const TuneChoice& choice) {
    if (const auto known = m_roughly.find(choice); known != m_roughly.end()) return known->second;
    const auto saved = stored(choice, true);
    const TuneMeasurement measured = saved ? *saved : tried(choice, Depth::Rough);
    return m_roughly.emplace(choice, measured.numbers).first->second;
}

TuneNumbers TuneMeasurements::measureAndKeep(const TuneChoice& choice) {
    const auto known = m_known.find(choice);
    // start() has already kept these activations.
    if (known != m_known.end() && choice == cheapest()) return known->second;
    if (const auto saved = stored(choice, false))
        return known != m_known.end() ? known->second : record(choice, *saved);
    checkLimits();
    ++m_evaluations;
    const EvaluationPtr evaluation =
        m_session.evaluateForSearch(currentConfig(choice), Depth::Accuracy, m_cancel);
    return known != m_known.end() ? known->second : recordAndStore(choice, *evaluation);
}

double TuneMeasurements::weightOf(const TuneChoice& choice) const {
    double weight = 0;
    for (std::size_t c = 0; c < choice.size(); ++c) weight += candidates()[c].options[choice[c]].weight;
    return weight;
}

double TuneMeasurements::cheapestWithin(double drop) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Record& record : m_records)
        if (withinDrop(record.measured.numbers.drop, drop)) least = std::min(least, record.cost);
    return least;
}

const std::vector<double>& TuneMeasurements::sensitivities() {
    if (!m_sensitivities.empty()) return m_sensitivities;
    checkLimits();
    ++m_evaluations;
    const EvaluationPtr measured = m_session.evaluateForSearch(config(), Depth::Metrics, m_cancel);
    for (const TuneCandidate& candidate : candidates()) {
        const auto& local = measured->layers[candidate.owner.index()].local;
        m_sensitivities.push_back(local ? local->qs : 0);
    }
    return m_sensitivities;
}

double TuneMeasurements::costOf(const TuneChoice& choice) const {
    return quantloupe::costOf(m_starts.back().candidates, choice);
}

}  // namespace quantloupe
