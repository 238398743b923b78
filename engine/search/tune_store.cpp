// SPDX-License-Identifier: Apache-2.0
#include "search/tune_store.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/strict_json.h"
#include "config/config_json.h"
#include "session/studies/search_context.h"

namespace quantloupe {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;  // to be raised when measurements change their meaning
constexpr double kSaveSeconds = 3;

std::string keyOf(const QuantizationConfig& config, bool rough) {
    return (rough ? "rough " : "") +
           VersionBuilder().add(std::string_view(configToJson(config))).finish().hex();
}

/// JSON has no infinity: the SQNR of equal outputs.
Json numberJson(const std::optional<double>& value) {
    if (!value || std::isnan(*value)) return nullptr;
    return std::isinf(*value) ? Json("infinite") : Json(*value);
}

std::optional<double> numberOf(const nlohmann::json& object, const char* key) {
    const nlohmann::json& value = object.at(key);
    if (value.is_null()) return std::nullopt;
    return value.is_string() ? INFINITY : value.get<double>();
}

Json intervalJson(const std::optional<RateInterval>& interval) {
    return interval ? Json{interval->low, interval->high} : Json();
}

std::optional<RateInterval> intervalOf(const nlohmann::json& object, const char* key) {
    const nlohmann::json& value = object.at(key);
    if (value.is_null()) return std::nullopt;
    return RateInterval{value.at(0).get<double>(), value.at(1).get<double>()};
}

Json toJson(const TuneMeasurement& measured) {
    const Accuracy& a = measured.accuracy;
    return {{"drop", measured.numbers.drop},
            {"noise", measured.numbers.noise},
            {"metric", numberJson(measured.numbers.metric)},
            {"interval", intervalJson(measured.interval)},
            {"transitions", measured.transitions},
            {"samples", a.samples},
            {"top1", numberJson(a.top1)},
            {"top5", numberJson(a.top5)},
            {"top1_interval", intervalJson(a.top1Interval)},
            {"agreement", numberJson(a.agreement)},
            {"sqnr_db", numberJson(a.sqnrDb)},
            {"max_abs_diff", numberJson(a.maxAbsDiff)},
            {"mse", numberJson(a.mse)},
            {"psnr_db", numberJson(a.psnrDb)}};
}

TuneMeasurement measurementOf(const nlohmann::json& json) {
    TuneMeasurement measured;
    measured.numbers = {json.at("drop").get<double>(), json.at("noise").get<double>(),
                        numberOf(json, "metric").value_or(NAN)};
    measured.interval = intervalOf(json, "interval");
    measured.transitions = json.at("transitions").get<std::size_t>();
    Accuracy& a = measured.accuracy;
    a.samples = json.at("samples").get<std::size_t>();
    a.top1 = numberOf(json, "top1");
    a.top5 = numberOf(json, "top5");
    a.top1Interval = intervalOf(json, "top1_interval");
    a.agreement = numberOf(json, "agreement");
    a.sqnrDb = numberOf(json, "sqnr_db");
    a.maxAbsDiff = numberOf(json, "max_abs_diff");
    a.mse = numberOf(json, "mse");
    a.psnrDb = numberOf(json, "psnr_db");
    return measured;
}

}  // namespace

TuneStore::TuneStore(Session& session, const TuneOptions& options) : m_path(options.measurements) {
    if (!enabled()) return;
    m_context = VersionBuilder().add(searchContext(session)).add(kFormat).finish().hex();
    std::error_code ignored;
    if (std::filesystem::exists(m_path, ignored)) read();
}

void TuneStore::read() {
    try {
        const nlohmann::json json = parseStrictJson(readFile(m_path));
        if (!json.is_object() || !json.contains("quantloupe_search"))
            failInput("this file does not contain the measurements of a search");
        if (json.at("context") != m_context) {
            m_notice = fmt::format(
                "the measurements in '{}' are of another model, of other data or of another version, and are "
                "replaced",
                m_path.string());
            return;
        }
        for (const auto& [key, value] : json.at("measurements").items())
            m_earlier.emplace(key, measurementOf(value));
        m_all = m_earlier;
    } catch (const nlohmann::json::exception&) {
        failInput("'{}' does not contain the measurements of a search; delete it to start again",
                  m_path.string());
    } catch (Error& error) {
        throw error.addContext(fmt::format("measurements '{}'", m_path.string()));
    }
}

const TuneMeasurement* TuneStore::find(const QuantizationConfig& config, bool rough) {
    const auto found = m_earlier.find(keyOf(config, rough));
    if (found == m_earlier.end()) return nullptr;
    ++m_reused;
    return &found->second;
}

void TuneStore::add(const QuantizationConfig& config, bool rough, const TuneMeasurement& measured) {
    if (!enabled()) return;
    m_all.insert_or_assign(keyOf(config, rough), measured);
    ++m_unsaved;
    if (m_watch.seconds() - m_savedAt >= kSaveSeconds) save();
}

void TuneStore::save() {
    if (!enabled() || m_unsaved == 0) return;
    Json json = {{"quantloupe_search", kFormat}, {"context", m_context}};
    json["measurements"] = Json::object();
    for (const auto& [key, measured] : m_all) json["measurements"][key] = toJson(measured);
    writeFileAtomically(m_path, json.dump(1) + "\n");
    m_unsaved = 0;
    m_savedAt = m_watch.seconds();
}

}  // namespace quantloupe
