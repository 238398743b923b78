// SPDX-License-Identifier: Apache-2.0
// Result of a search: the trade-off curve, the chosen point, and their description.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "search/tune_measurements.h"
#include "search/tune_numbers.h"
#include "session/studies/leave_one_out.h"

namespace quantloupe {
namespace {

std::string pointsText(double drop) {
    return fmt::format("{:.2f}", std::abs(drop) < 5e-5 ? 0.0 : 100 * drop);
}

}  // namespace

std::vector<const TuneMeasurements::Record*> TuneMeasurements::front() const {
    std::vector<const Record*> order;
    for (const Record& record : m_records) order.push_back(&record);
    std::ranges::stable_sort(order, {}, [&](const Record* r) {
        return std::tuple(amountOf(r->cost, m_options.cost), r->cost.layers, r->start, r->drop,
                          r->transitions);
    });
    std::vector<const Record*> front;
    for (const Record* record : order)
        if (front.empty() || record->drop < front.back()->drop) front.push_back(record);
    return front;
}

TunePoint TuneMeasurements::pointOf(const Record& record) const {
    TunePoint point;
    point.config = configOf(record.start, record.set);
    point.layers = layersOf(record.set);
    point.transforms = m_starts[record.start].transforms;
    point.accuracy = record.accuracy;
    point.metric = taskMetric(record.accuracy);
    point.drop = record.drop;
    point.dropInterval = record.interval;
    point.cost = record.cost;
    point.transitions = record.transitions;
    return point;
}

TuneResult TuneMeasurements::result() const {
    TuneResult result;
    result.floating = *m_base->floating;
    taskMetric(*m_base->quantized, &result.metric);
    result.maxDrop = m_options.maxDrop;
    result.cost = m_options.cost;
    result.quantized = m_quantized;
    result.locked = m_locked;
    result.evaluations = m_evaluations;
    result.samples = m_base->samples;
    result.seconds = seconds();
    result.notices = m_notices;
    for (const Record* record : front()) result.curve.push_back(pointOf(*record));
    const auto reaching = std::ranges::find_if(
        result.curve, [&](const TunePoint& p) { return withinDrop(p.drop, m_options.maxDrop); });
    result.reached = reaching != result.curve.end();
    result.chosen =
        result.reached ? static_cast<std::size_t>(reaching - result.curve.begin()) : result.curve.size() - 1;
    if (const auto& interval = result.curve[result.chosen].dropInterval)
        result.certain = result.reached ? withinDrop(interval->high, m_options.maxDrop)
                                        : !withinDrop(interval->low, m_options.maxDrop);
    return result;
}

std::string_view tuneCostName(TuneCost cost) {
    switch (cost) {
        case TuneCost::Macs:
            return "macs";
        case TuneCost::Parameters:
            return "parameters";
        case TuneCost::Layers:
            return "layers";
    }
    return "macs";
}

std::string_view tuneEndName(TuneEnd end) {
    switch (end) {
        case TuneEnd::Finished:
            return "finished";
        case TuneEnd::Steps:
            return "steps";
        case TuneEnd::Seconds:
            return "seconds";
        case TuneEnd::Cancelled:
            return "cancelled";
    }
    return "finished";
}

std::string describe(TuneStage stage) {
    switch (stage) {
        case TuneStage::Transforms:
            return "transforms";
        case TuneStage::EachLayerAlone:
            return "each layer alone";
        case TuneStage::Adding:
            return "adding layers";
        case TuneStage::Removing:
            return "removing layers";
        case TuneStage::Exchanging:
            return "exchanging layers";
        case TuneStage::FromAllFloat:
            return "starting from all layers in float";
    }
    return "searching";
}

std::string describe(const TuneResult& result) {
    const TunePoint& point = result.curve[result.chosen];
    const bool own = result.metric == "metric", rates = !own && result.metric != "sqnr_db";
    std::string text = result.reached ? "reached" : "not reached";
    const std::string target = fmt::format("{:.4g}", own ? result.maxDrop : 100 * result.maxDrop);
    const char* why = result.ended == TuneEnd::Finished ? "because keeping more layers in float does not help"
                      : result.ended == TuneEnd::Steps  ? "within the step limit"
                      : result.ended == TuneEnd::Seconds ? "within the time limit"
                                                         : "before the search was stopped";
    if (!result.reached) text += fmt::format(" {}", why);
    const bool above = rates && point.drop < 0;
    text += own     ? fmt::format(": metric {:.6g}, {:.4g} {} than float", point.metric, std::abs(point.drop),
                              point.drop < 0 ? "better" : "worse")
            : rates ? fmt::format(": {} points {} float", pointsText(above ? -point.drop : point.drop),
                                  above ? "above" : "below")
                    : fmt::format(": {:.2f} dB, {} % relative error", point.metric, pointsText(point.drop));
    text +=
        fmt::format(" with {} layer{} in float", point.layers.size(), point.layers.size() == 1 ? "" : "s");
    if (!point.transforms.empty()) text += fmt::format(", {}", point.transforms);
    text += fmt::format("; target: at most {}{}", target,
                        own             ? ""
                        : !rates        ? " %"
                        : target == "1" ? " point"
                                        : " points");
    if (point.dropInterval)
        text += fmt::format(" (95 % interval {} to {} points{})", pointsText(point.dropInterval->low),
                            pointsText(point.dropInterval->high),
                            result.certain ? "" : "; may differ on other samples");
    if (result.reached && result.ended != TuneEnd::Finished)
        text += fmt::format("; {}, so there may be a cheaper set", result.ended == TuneEnd::Cancelled
                                                                       ? "the search was stopped"
                                                                       : "a limit ended the search");
    if (!result.reached && result.ended == TuneEnd::Finished && !result.locked.empty())
        text += fmt::format("; {} {} set to always be quantized", fmt::join(result.locked, ", "),
                            result.locked.size() == 1 ? "is" : "are");
    return text;
}

}  // namespace quantloupe
