// SPDX-License-Identifier: Apache-2.0
// Writes the project's JSON; read_project.cpp reads it.

#include "session/project/project_file.h"

#include <chrono>
#include <cmath>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/json.h"
#include "config/config_json.h"
#include "results/accuracy_numbers.h"
#include "session/project/project_keys.h"
#include "session/project/task_json.h"

namespace quantloupe {
namespace {

namespace fs = std::filesystem;

/// Returns a relative path if both paths have a common folder other than the root; otherwise an absolute one.
std::string storedPath(const fs::path& path, const fs::path& file) {
    if (path.empty()) return {};
    std::error_code ignored;
    const fs::path target = fs::absolute(path, ignored).lexically_normal();
    const fs::path folder = fs::absolute(file, ignored).lexically_normal().parent_path();
    const auto first = [](const fs::path& p) {
        return p.relative_path().empty() ? fs::path() : *p.relative_path().begin();
    };
    const bool together = target.root_path() == folder.root_path() && first(target) == first(folder);
    return (together ? target.lexically_relative(folder) : target).generic_string();
}

void put(OrderedJson& json, const char* key, const std::optional<double>& value) {
    if (!value || std::isnan(*value)) return;
    if (!std::isinf(*value))
        json[key] = *value;
    else if (*value > 0)
        json[key] = nullptr;  // no difference
    else
        json[key] = kMinusInfinity;
}

OrderedJson toJson(const Accuracy& accuracy) {
    OrderedJson json = {{"samples", accuracy.samples}};
    for (const auto& [key, number] : kAccuracyNumbers) put(json, key, accuracy.*number);
    if (accuracy.top1Interval)
        json["top1_interval"] = {accuracy.top1Interval->low, accuracy.top1Interval->high};
    return json;
}

OrderedJson toJson(const MeasuredConfig& measured) {
    const StateCounts& counts = measured.counts;
    OrderedJson json = {{"version", measured.version},
                        {"change", measured.change},
                        {"measured_at", measured.measuredAt},
                        {"seconds", measured.seconds},
                        {"float", toJson(measured.floating)},
                        {"quantized", toJson(measured.quantized)},
                        {"counts",
                         {{"quantized", counts.quantized},
                          {"skipped", counts.skipped},
                          {"float", counts.floating},
                          {"folded", counts.folded},
                          {"fused", counts.fused}}}};
    if (measured.cost) {
        json["in_float"] = {{"macs", measured.cost->macs},
                            {"total_macs", measured.cost->totalMacs},
                            {"bytes", measured.cost->bytes},
                            {"total_bytes", measured.cost->totalBytes}};
        if (!measured.cost->macsReason.empty()) {
            json["in_float"]["macs"] = json["in_float"]["total_macs"] = nullptr;
            json["in_float"]["macs_reason"] = measured.cost->macsReason;
        }
    }
    if (!measured.name.empty()) json["name"] = measured.name;
    if (!measured.note.empty()) json["note"] = measured.note;
    if (measured.otherModel) json["other_model"] = true;
    if (!measured.data.empty()) json["data"] = measured.data;
    json["config"] = OrderedJson::parse(configToJson(measured.config));
    return json;
}

OrderedJson toJson(const LatencySource& source) {
    OrderedJson json = {{"name", source.name}, {"format", source.file.format}, {"runs", source.file.runs}};
    if (source.precision) json["precision"] = precisionName(*source.precision);
    put(json, "network_ms", source.file.networkMs);
    json["layers"] = OrderedJson::array();
    for (const LatencyRow& row : source.file.rows)
        json["layers"].push_back({row.name, row.precision ? precisionName(*row.precision) : "", row.ms});
    return json;
}

std::string nowText() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                       utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

FloatCost floatCostOf(const std::vector<LayerResult>& layers) {
    FloatCost cost;
    for (const LayerResult& layer : layers) {
        const bool inFloat = layer.state == LayerState::Skipped || layer.state == LayerState::Float;
        const std::uint64_t bytes = layer.ownParameters * sizeof(float);
        cost.totalMacs += layer.macs;
        if (cost.macsReason.empty()) cost.macsReason = layer.macsReason;
        cost.totalBytes += bytes;
        if (!inFloat) continue;
        cost.macs += layer.macs;
        cost.bytes += bytes;
    }
    return cost;
}

std::optional<MeasuredConfig> measuredConfig(const Evaluation& evaluation, std::string change) {
    if (evaluation.rough || !evaluation.quantized || !evaluation.floating) return std::nullopt;
    MeasuredConfig measured;
    measured.version = evaluation.version.hex();
    measured.data = evaluation.data.hex();
    measured.config = evaluation.config;
    measured.change = std::move(change);
    measured.measuredAt = nowText();
    measured.seconds = evaluation.seconds.total;
    measured.floating = *evaluation.floating;
    measured.quantized = *evaluation.quantized;
    if (evaluation.randomInputs) measured.quantized.agreement.reset();  // it says nothing
    measured.counts = evaluation.counts;
    measured.cost = floatCostOf(evaluation.layers);
    return measured;
}

std::string projectToJson(const Project& project, const fs::path& file) {
    OrderedJson json = {{kProjectMark, kProjectFormat}};
    json["model"] = {{"path", storedPath(project.model, file)}, {"hash", project.modelVersion.hex()}};
    OrderedJson layers = OrderedJson::array();
    for (const LayerSignature& layer : project.layers)
        layers.push_back({layer.name, layer.op, layer.local.hex(), layer.wide.hex()});
    json["model"]["layers"] = std::move(layers);
    json["data"] = {{"evaluation", storedPath(project.data, file)},
                    {"calibration", storedPath(project.calibration, file)}};
    if (project.task != TaskSettings{}) {
        TaskSettings task = project.task;
        task.labels = storedPath(task.labels, file);
        task.classNames = storedPath(task.classNames, file);
        json["data"]["task"] = taskToJson(task);
    }
    if (project.preprocess)
        json["data"]["preprocess"] = OrderedJson::parse(preprocessToJson(*project.preprocess));
    json["config"] = OrderedJson::parse(configToJson(project.config));
    json["history"] = OrderedJson::array();
    for (const MeasuredConfig& measured : project.history) json["history"].push_back(toJson(measured));
    json["baseline"] = project.baseline;
    for (const LatencySource& source : project.latency) json["latency"].push_back(toJson(source));
    json["view"] = OrderedJson::parse(project.view);
    try {
        return json.dump(1) + "\n";
    } catch (const OrderedJson::exception&) {
        failInput(
            "a name, a comment or a path in the project is not valid UTF-8 and cannot be written as JSON");
    }
}

void saveProject(const Project& project, const fs::path& file) {
    try {
        writeFileAtomically(file, projectToJson(project, file));
    } catch (Error& error) {
        error.addContext("project");
        throw;
    }
}

}  // namespace quantloupe
