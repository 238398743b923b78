// SPDX-License-Identifier: Apache-2.0
#include "search/resumable_sweep.h"

#include "config/config_json.h"
#include "search/measurement_file.h"

namespace quantloupe {
namespace {

constexpr int kSweepFormat = 1;

Json toJson(const LayerEffect& effect) {
    Json json = {{"value", measuredNumber(effect.value)},
                 {"change", measuredNumber(effect.change)},
                 {"sqnr_db", measuredNumber(effect.sqnrDb)},
                 {"samples", effect.samples},
                 {"paired", nullptr}};
    if (const auto& paired = effect.paired)
        json["paired"] = {{"fixed", paired->fixed},     {"broken", paired->broken},
                          {"samples", paired->samples}, {"difference", paired->difference},
                          {"low", paired->low},         {"high", paired->high},
                          {"p", paired->pValue},        {"verdict", static_cast<int>(paired->verdict)},
                          {"graded", paired->graded}};
    return json;
}

LayerEffect effectOf(const Json& json) {
    LayerEffect effect;
    effect.value = measuredNumber(json, "value").value_or(NAN);
    effect.change = measuredNumber(json, "change").value_or(NAN);
    effect.sqnrDb = measuredNumber(json, "sqnr_db");
    effect.samples = json.at("samples").get<std::size_t>();
    if (const Json& paired = json.at("paired"); !paired.is_null())
        effect.paired = PairedComparison{paired.at("fixed").get<std::size_t>(),
                                         paired.at("broken").get<std::size_t>(),
                                         paired.at("samples").get<std::size_t>(),
                                         paired.at("difference").get<double>(),
                                         paired.at("low").get<double>(),
                                         paired.at("high").get<double>(),
                                         paired.at("p").get<double>(),
                                         static_cast<ChangeVerdict>(paired.at("verdict").get<int>()),
                                         paired.at("graded").get<bool>()};
    return effect;
}

}  // namespace

LayerSweep resumableLeaveOneOut(Session& session, const QuantizationConfig& config, SweepFile& file,
                                SweepOptions options, const CancelToken& cancel) {
    MeasurementFile measurements(session, {file.path, "quantloupe_leave_one_out", kSweepFormat,
                                           file.reuse && layersAreIndependent(config), file.program});
    const std::string prefix =
        VersionBuilder().add(std::string_view(configToJson(config))).finish().hex() + " ";
    if (measurements.enabled()) {
        options.known = [&](const std::string& layer) { return measurements.find(prefix + layer, effectOf); };
        options.measured = [&](const LayerEffect& effect) {
            measurements.add(prefix + effect.name, toJson(effect));
        };
    }
    LayerSweep sweep = leaveOneOut(session, config, options, cancel);
    measurements.save();
    file.reused = measurements.reused();
    file.notices = measurements.notices();
    return sweep;
}

}  // namespace quantloupe
