// SPDX-License-Identifier: Apache-2.0
// Result of a search: the trade-off curve and the chosen point.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.h"
#include "results/task_metric.h"
#include "search/tune_measurements.h"
#include "search/tune_numbers.h"

namespace quantloupe {

void choosePoint(TuneResult& result) {
    const auto& curve = result.curve;
    const auto within = [&](const TunePoint& point) { return withinDrop(point.drop, result.maxDrop); };
    if (const auto& budget = result.budget) {
        const auto over =
            std::ranges::find_if(curve, [&](const TunePoint& point) { return point.amount > *budget; });
        result.chosen = over == curve.begin() ? 0 : static_cast<std::size_t>(over - curve.begin()) - 1;
        result.reached = over != curve.begin() && within(curve[result.chosen]);
    } else {
        const auto reaching = std::ranges::find_if(curve, within);
        result.reached = reaching != curve.end();
        result.chosen =
            result.reached ? static_cast<std::size_t>(reaching - curve.begin()) : curve.size() - 1;
    }
    result.certain = false;
    if (const auto& interval = curve[result.chosen].dropInterval; interval && std::isfinite(result.maxDrop))
        result.certain = result.reached ? withinDrop(interval->high, result.maxDrop)
                                        : !withinDrop(interval->low, result.maxDrop);
}

std::vector<const TuneMeasurements::Record*> TuneMeasurements::front() const {
    std::vector<const Record*> order;
    for (const Record& record : m_records) order.push_back(&record);
    std::ranges::stable_sort(order, {}, [&](const Record* r) {
        return std::tuple(r->cost, r->measured.numbers.drop, r->share.layers, r->start,
                          r->measured.transitions);
    });
    std::vector<const Record*> front;
    for (const Record* record : order)
        if (front.empty() || record->measured.numbers.drop < front.back()->measured.numbers.drop)
            front.push_back(record);
    return front;
}

TunePoint TuneMeasurements::pointOf(const Record& record) const {
    const Start& start = m_starts[record.start];
    std::vector<Precision> precisions = start.candidates.precisions;
    std::vector<std::pair<std::size_t, std::string>> floating;
    for (std::size_t c = 0; c < record.choice.size(); ++c) {
        const TuneCandidate& candidate = start.candidates.list[c];
        const TuneOption& option = candidate.options[record.choice[c]];
        for (const std::string& name : candidate.layers) {
            const std::size_t node = m_session.graph().findNode(name)->index();
            precisions[node] = option.precision;
            if (!option.precision.isInteger()) floating.emplace_back(node, name);
        }
    }
    std::ranges::sort(floating);
    TunePoint point;
    point.config = configOf(record.start, record.choice);
    for (auto& [node, name] : floating) point.layers.push_back(std::move(name));
    for (const LayerResult& layer : m_base->layers)
        if (layer.quantizable) point.precisions.emplace_back(layer.name, precisions[layer.node.index()]);
    point.transforms = start.transforms;
    point.accuracy = record.measured.accuracy;
    point.metric = taskMetric(record.measured.accuracy).value;
    point.drop = record.measured.numbers.drop;
    point.dropInterval = record.measured.numbers.interval;
    point.cost = record.share;
    point.amount = record.cost;
    point.transitions = record.measured.transitions;
    return point;
}

TuneResult TuneMeasurements::result() const {
    const TuneCandidates& first = m_starts.front().candidates;
    TuneResult result;
    result.floating = *m_base->floating;
    result.metric = taskMetric(*m_base->quantized).metric;
    result.maxDrop = m_options.maxDrop;
    result.cost = m_options.cost;
    result.budget = m_options.budget;
    result.quantized = m_starts.back().candidates.quantized;
    result.startAmount = first.startCost;
    result.locked = m_starts.back().candidates.locked;
    result.evaluations = m_evaluations;
    result.samples = m_base->samples;
    result.reused = m_store.reused();
    result.seconds = seconds();
    result.notices = m_notices;
    append(result.notices, m_store.notices());
    for (const Record* record : front()) result.curve.push_back(pointOf(*record));
    choosePoint(result);
    return result;
}

}  // namespace quantloupe
