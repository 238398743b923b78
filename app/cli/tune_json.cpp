// SPDX-License-Identifier: Apache-2.0
#include "tune_json.h"

namespace quantloupe::cli {
namespace {

Json shareJson(const FloatShare& share) {
    Json object = {{"layers", share.layers}, {"parameters", share.parameters}};
    setMacs(object, share.macs,
            share.macsKnown ? "" : "the shape of a layer is unknown; the search used parameters instead");
    return object;
}

Json pointJson(const TunePoint& point) {
    Json object = {{"layers", point.layers}, {"transforms", point.transforms}};
    setNumber(object, "drop", point.drop, "not measured");
    if (point.dropInterval)
        object["drop_interval"] = {point.dropInterval->low, point.dropInterval->high};
    else
        object["drop_interval"] = nullptr;
    object["quantized"] = toJson(std::optional(point.accuracy), Role::Quantized);
    object["cost"] = shareJson(point.cost);
    object["transitions"] = point.transitions;
    return object;
}

}  // namespace

Json toJson(const TuneResult& result) {
    Json object = {{"metric", result.metric},           {"max_drop", result.maxDrop},
                   {"cost", tuneCostName(result.cost)}, {"reached", result.reached},
                   {"certain", result.certain},         {"ended", tuneEndName(result.ended)},
                   {"text", describe(result)},          {"chosen", result.chosen}};
    object["curve"] = Json::array();
    for (const TunePoint& point : result.curve) object["curve"].push_back(pointJson(point));
    object["total"] = shareJson(result.quantized);
    object["locked"] = result.locked;
    object["steps"] = result.steps;
    object["evaluations"] = result.evaluations;
    return object;
}

}  // namespace quantloupe::cli
