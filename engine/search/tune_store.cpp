// SPDX-License-Identifier: Apache-2.0
#include "search/tune_store.h"

#include <cmath>

#include "config/config_json.h"
#include "results/accuracy_numbers.h"

namespace quantloupe {
namespace {

constexpr int kTuneFormat = 3;  // to be raised when measurements change their meaning

std::string keyOf(const QuantizationConfig& config, bool rough) {
    return (rough ? "rough " : "") +
           VersionBuilder().add(std::string_view(configToJson(config))).finish().hex();
}

Json intervalJson(const std::optional<RateInterval>& interval) {
    return interval ? Json{interval->low, interval->high} : Json();
}

std::optional<RateInterval> intervalOf(const Json& object, const char* key) {
    const Json& value = object.at(key);
    if (value.is_null()) return std::nullopt;
    return RateInterval{value.at(0).get<double>(), value.at(1).get<double>()};
}

Json toJson(const TuneMeasurement& measured) {
    const Accuracy& accuracy = measured.accuracy;
    Json json = {{"drop", measured.numbers.drop},
                 {"noise", measured.numbers.noise},
                 {"metric", measuredNumber(measured.numbers.metric)},
                 {"interval", intervalJson(measured.numbers.interval)},
                 {"transitions", measured.transitions},
                 {"samples", accuracy.samples},
                 {"user_metric", measuredNumber(accuracy.userMetric)},
                 {"lower_is_better", accuracy.lowerIsBetter},
                 {"top1_interval", intervalJson(accuracy.top1Interval)}};
    for (const auto& [key, number] : kAccuracyNumbers) json[key] = measuredNumber(accuracy.*number);
    return json;
}

TuneMeasurement measurementOf(const Json& json) {
    TuneMeasurement measured;
    measured.numbers = {json.at("drop").get<double>(), json.at("noise").get<double>(),
                        measuredNumber(json, "metric").value_or(NAN), intervalOf(json, "interval")};
    measured.transitions = json.at("transitions").get<std::size_t>();
    measured.accuracy.samples = json.at("samples").get<std::size_t>();
    measured.accuracy.userMetric = measuredNumber(json, "user_metric");
    measured.accuracy.lowerIsBetter = json.at("lower_is_better").get<bool>();
    measured.accuracy.top1Interval = intervalOf(json, "top1_interval");
    for (const auto& [key, number] : kAccuracyNumbers) measured.accuracy.*number = measuredNumber(json, key);
    return measured;
}

}  // namespace

TuneStore::TuneStore(Session& session, const TuneOptions& options)
    : m_file(session,
             {options.measurements, "quantloupe_search", kTuneFormat, options.reuse, options.program}) {}

std::optional<TuneMeasurement> TuneStore::find(const QuantizationConfig& config, bool rough) {
    if (!enabled()) return std::nullopt;
    return m_file.find(keyOf(config, rough), measurementOf);
}

void TuneStore::add(const QuantizationConfig& config, bool rough, const TuneMeasurement& measured) {
    if (enabled()) m_file.add(keyOf(config, rough), toJson(measured));
}

}  // namespace quantloupe
