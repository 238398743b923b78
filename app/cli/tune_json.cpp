// SPDX-License-Identifier: Apache-2.0
#include "tune_json.h"

#include <cmath>

namespace quantloupe::cli {
namespace {

Json shareJson(const FloatShare& share) {
    Json object = {{"layers", share.layers}, {"parameters", share.parameters}};
    setMacs(object, share.macs,
            share.macsKnown ? "" : "the shape of a layer is unknown; the search used parameters instead");
    return object;
}

Json intervalJson(const std::optional<RateInterval>& interval) {
    return interval ? Json{interval->low, interval->high} : Json();
}

Json pointJson(const TunePoint& point) {
    Json object = {{"layers", point.layers}, {"transforms", point.transforms}};
    setNumber(object, "drop", point.drop, "not measured");
    object["drop_interval"] = intervalJson(point.dropInterval);
    object["quantized"] = toJson(std::optional(point.accuracy), Role::Quantized);
    object["cost"] = shareJson(point.cost);
    object["amount"] = point.amount;
    object["transitions"] = point.transitions;
    return object;
}

Json layersJson(const TunePoint& point) {
    Json layers = Json::array();
    for (const auto& [name, precision] : point.precisions)
        layers.push_back({{"name", name}, {"precision", precisionName(precision)}});
    return layers;
}

Json heldOutJson(const std::optional<TuneHeldOut>& heldOut) {
    if (!heldOut) return {};
    Json object = {{"samples", heldOut->samples}};
    setNumber(object, "drop", heldOut->drop, "not measured");
    object["interval"] = intervalJson(heldOut->dropInterval);
    return object;
}

}  // namespace

Json toJson(const TuneResult& result) {
    const TunePoint& chosen = result.curve[result.chosen];
    Json object = {{"metric", result.metric}};
    object["max_drop"] = std::isfinite(result.maxDrop) ? Json(result.maxDrop) : Json();
    object["cost_kind"] = costName(result.cost);
    object["budget"] = result.budget ? Json(*result.budget) : Json();
    object["reached"] = result.reached;
    object["certain"] = result.certain;
    object["ended"] = tuneEndName(result.ended);
    object["text"] = describe(result);
    object["cost"] = chosen.amount;
    object["start_cost"] = result.startAmount;
    setNumber(object, "drop", chosen.drop, "not measured");
    object["interval"] = intervalJson(chosen.dropInterval);
    object["layers"] = layersJson(chosen);
    object["held_out"] = heldOutJson(result.heldOut);
    object["chosen"] = result.chosen;
    object["curve"] = Json::array();
    for (const TunePoint& point : result.curve) object["curve"].push_back(pointJson(point));
    object["total"] = shareJson(result.quantized);
    object["locked"] = result.locked;
    object["steps"] = result.steps;
    object["evaluations"] = result.evaluations;
    object["reused"] = result.reused;
    return object;
}

}  // namespace quantloupe::cli
