// SPDX-License-Identifier: Apache-2.0
#include "tune_json.h"

#include <cmath>

namespace quantloupe::cli {
namespace {

OrderedJson shareJson(const FloatShare& share) {
    OrderedJson object = {{"layers", share.layers}, {"parameters", share.parameters}};
    setMacs(object, share.macs,
            share.macsKnown ? "" : "the shape of a layer is unknown; the search used parameters instead");
    return object;
}

OrderedJson intervalJson(const std::optional<RateInterval>& interval) {
    return interval ? OrderedJson{interval->low, interval->high} : OrderedJson();
}

OrderedJson pointJson(const TunePoint& point) {
    OrderedJson object = {{"layers", point.layers}, {"transforms", point.transforms}};
    setNumber(object, "drop", point.drop, "not measured");
    object["drop_interval"] = intervalJson(point.dropInterval);
    object["quantized"] = toJson(std::optional(point.accuracy), Role::Quantized);
    object["cost"] = shareJson(point.cost);
    object["amount"] = point.amount;
    object["transitions"] = point.transitions;
    return object;
}

OrderedJson layersJson(const TunePoint& point) {
    OrderedJson layers = OrderedJson::array();
    for (const auto& [name, precision] : point.precisions)
        layers.push_back({{"name", name}, {"precision", precisionName(precision)}});
    return layers;
}

OrderedJson heldOutJson(const std::optional<TuneHeldOut>& heldOut) {
    if (!heldOut) return {};
    OrderedJson object = {{"samples", heldOut->samples}};
    setNumber(object, "drop", heldOut->drop, "not measured");
    object["interval"] = intervalJson(heldOut->dropInterval);
    return object;
}

}  // namespace

OrderedJson toJson(const TuneResult& result) {
    const TunePoint& chosen = result.curve[result.chosen];
    OrderedJson object = {{"metric", traitsOf(result.metric).name}};
    object["max_drop"] = std::isfinite(result.maxDrop) ? OrderedJson(result.maxDrop) : OrderedJson();
    object["cost_kind"] = costName(result.cost);
    object["budget"] = result.budget ? OrderedJson(*result.budget) : OrderedJson();
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
    object["curve"] = OrderedJson::array();
    for (const TunePoint& point : result.curve) object["curve"].push_back(pointJson(point));
    object["total"] = shareJson(result.quantized);
    object["locked"] = result.locked;
    object["steps"] = result.steps;
    object["evaluations"] = result.evaluations;
    object["reused"] = result.reused;
    return object;
}

}  // namespace quantloupe::cli
