// SPDX-License-Identifier: Apache-2.0
// Descriptions of a search and of its result.
#include <cmath>

#include "base/short_text.h"
#include "search/tune_numbers.h"

namespace quantloupe {

std::string pointsText(double drop) {
    return fmt::format("{:.2f}", std::abs(drop) < 5e-5 ? 0.0 : 100 * drop);
}

namespace {

std::string dropText(double drop, TaskValue value) {
    if (value.metric == TaskMetric::User)
        return fmt::format("metric {:.6g}, {:.4g} {} than float", value.value, std::abs(drop),
                           drop < 0 ? "better" : "worse");
    if (value.metric == TaskMetric::Sqnr) {
        if (drop >= kWorstDrop) return "outputs that cannot be compared with those of the float network";
        if (std::isinf(value.value)) return "no difference from float";
        return fmt::format("{:.2f} dB, {} % relative error", value.value, pointsText(drop));
    }
    return fmt::format("{} points {} float", pointsText(std::abs(drop)), drop < 0 ? "above" : "below");
}

const char* whyNotReached(TuneEnd end) {
    switch (end) {
        case TuneEnd::Steps:
            return "within the step limit";
        case TuneEnd::Seconds:
            return "within the time limit";
        case TuneEnd::Cancelled:
            return "before the search was stopped";
        case TuneEnd::Failed:
            return "before an evaluation failed";
        default:
            return "by any choice that was tried";
    }
}

}  // namespace

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
        case TuneEnd::Failed:
            return "failed";
    }
    return "finished";
}

std::string describe(TuneStage stage) {
    switch (stage) {
        case TuneStage::Transforms:
            return "transforms";
        case TuneStage::EarlyAnswer:
            return "most sensitive layers";
        case TuneStage::EachLayerAlone:
            return "each layer alone";
        case TuneStage::Adding:
            return "adding layers";
        case TuneStage::Removing:
            return "removing layers";
        case TuneStage::Exchanging:
            return "exchanging layers";
        case TuneStage::FromAllFloat:
            return "starting from the most precise network";
        case TuneStage::Prefixes:
            return "comparing with rankings";
    }
    return "searching";
}

std::string describe(const TuneResult& result) {
    const TunePoint& point = result.curve[result.chosen];
    const bool own = result.metric == TaskMetric::User;
    const std::string target = fmt::format("{:.4g}", own ? result.maxDrop : 100 * result.maxDrop);
    std::string text = result.reached ? "reached" : "not reached";
    if (!result.reached)
        text += result.budget ? point.amount > *result.budget ? " because the cheapest choice costs more"
                                                              : " within the budget"
                              : fmt::format(" {}", whyNotReached(result.ended));
    text += ": " + dropText(point.drop, {result.metric, point.metric});
    text += fmt::format(" with {} in float", counted(point.layers.size(), "layer"));
    if (!countsFloat(result.cost)) text += ", " + costText(result.cost, point.amount);
    if (!point.transforms.empty()) text += fmt::format(", {}", point.transforms);
    if (result.budget) text += "; budget: " + costText(result.cost, *result.budget);
    if (std::isfinite(result.maxDrop))
        text += fmt::format("; target: at most {}{}", target,
                            own                                 ? ""
                            : result.metric == TaskMetric::Sqnr ? " %"
                            : target == "1"                     ? " point"
                                                                : " points");
    if (point.dropInterval)
        text += fmt::format(" (95 % interval {} to {} points{})", pointsText(point.dropInterval->low),
                            pointsText(point.dropInterval->high),
                            result.certain ? "" : "; may differ on other samples");
    if (const auto& other = result.heldOut) {
        text += fmt::format("; on {} samples that the search did not use: {}", other->samples,
                            dropText(other->drop, {result.metric, other->metric}));
        if (other->dropInterval)
            text += fmt::format(" (95 % interval {} to {} points)", pointsText(other->dropInterval->low),
                                pointsText(other->dropInterval->high));
    }
    if (result.reached && result.ended != TuneEnd::Finished)
        text += fmt::format("; {}, so there may be a {} choice",
                            result.ended == TuneEnd::Cancelled ? "the search was stopped"
                            : result.ended == TuneEnd::Failed  ? "an evaluation failed"
                                                               : "a limit ended the search",
                            result.budget ? "better" : "cheaper");
    if (!result.reached && result.ended == TuneEnd::Finished && !result.locked.empty())
        text += fmt::format("; the configuration fixes the precision of {}", fmt::join(result.locked, ", "));
    return text;
}

}  // namespace quantloupe
