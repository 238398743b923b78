// SPDX-License-Identifier: Apache-2.0
// Reads the project's JSON. Like the configuration, it is strict: unknown keys and invalid values are errors
// that name them.

#include <charconv>
#include <limits>
#include <set>

#include "base/atomic_file.h"
#include "config/config_json.h"
#include "config/object_reader.h"
#include "results/accuracy_numbers.h"
#include "session/project/project_file.h"
#include "session/project/project_keys.h"
#include "session/project/task_json.h"

namespace quantloupe {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kNoOtherKeys;

const Json& need(ObjectReader& reader, std::string_view key) {
    const Json* value = reader.find(key);
    if (value == nullptr) failInput("{}: is missing", reader.pathOf(key));
    return *value;
}

/// Reads a part with another reader; its errors begin with the part's name.
template <typename Read>
auto within(const std::string& name, Read read) {
    try {
        return read();
    } catch (Error& error) {
        error.addContext(name);
        throw;
    }
}

Version hashOf(const std::string& key, const std::string& text) {
    Version version;
    const auto parse = [&](std::size_t begin, std::uint64_t& half) {
        const char* end = text.data() + begin + 16;
        const auto result = std::from_chars(text.data() + begin, end, half, 16);
        return result.ec == std::errc() && result.ptr == end;
    };
    if (text.size() != 32 || !parse(0, version.high) || !parse(16, version.low))
        failInput("{}: must be a hash of 32 hexadecimal digits, not {}", key, describeValue(Json(text)));
    return version;
}

fs::path resolvedPath(const fs::path& stored, const fs::path& file) {
    if (stored.empty()) return {};
    std::error_code ignored;
    return (fs::absolute(file, ignored).parent_path() / stored).lexically_normal();
}

fs::path resolvedPath(ObjectReader& reader, std::string_view key, const fs::path& file) {
    std::string stored;
    reader.text(key, stored);
    return resolvedPath(stored, file);
}

std::size_t count(ObjectReader& reader, std::string_view key) {
    int number = 0;
    reader.integer(key, number, 0, std::numeric_limits<int>::max());
    return static_cast<std::size_t>(number);
}

/// Reads a number; null means infinite, kMinusInfinity minus infinity.
std::optional<double> number(ObjectReader& reader, std::string_view key) {
    const Json* value = reader.find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_null()) return std::numeric_limits<double>::infinity();
    if (*value == kMinusInfinity) return -std::numeric_limits<double>::infinity();
    if (!value->is_number())
        failInput("{}: must be a number, not {}", reader.pathOf(key), describeValue(*value));
    return value->get<double>();
}

/// Reads a number that may exceed the range of int; 0 for null.
std::uint64_t amount(ObjectReader& reader, std::string_view key) {
    constexpr double kMost = 9007199254740992.0;  // 2^53: a double is exact up to here
    const std::optional<double> value = number(reader, key);
    if (!value || std::isinf(*value)) return 0;
    if (!(*value >= 0 && *value <= kMost))
        failInput("{}: must be a number from 0 to 2^53", reader.pathOf(key));
    return static_cast<std::uint64_t>(*value);
}

Accuracy readAccuracy(ObjectReader reader) {
    Accuracy accuracy;
    accuracy.samples = count(reader, "samples");
    for (const auto& [key, value] : kAccuracyNumbers) accuracy.*value = number(reader, key);
    if (const Json* interval = reader.find("top1_interval")) {
        if (!interval->is_array() || interval->size() != 2 || !(*interval)[0].is_number() ||
            !(*interval)[1].is_number())
            failInput("{}: must be two numbers, not {}", reader.pathOf("top1_interval"),
                      describeValue(*interval));
        accuracy.top1Interval = RateInterval{(*interval)[0].get<double>(), (*interval)[1].get<double>()};
    }
    reader.finish();
    return accuracy;
}

TaskSettings readTask(ObjectReader reader, const fs::path& file) {
    TaskSettings task = taskFromJson(std::move(reader));
    task.labels = resolvedPath(task.labels, file);
    task.classNames = resolvedPath(task.classNames, file);
    return task;
}

MeasuredConfig readMeasured(ObjectReader reader) {
    MeasuredConfig measured;
    need(reader, "version");
    reader.text("version", measured.version);
    hashOf(reader.pathOf("version"), measured.version);
    reader.text("change", measured.change);
    reader.text("measured_at", measured.measuredAt);
    measured.seconds = number(reader, "seconds").value_or(0);
    measured.floating = readAccuracy(reader.object("float"));
    measured.quantized = readAccuracy(reader.object("quantized"));
    ObjectReader counts = reader.object("counts");
    measured.counts = {count(counts, "quantized"), count(counts, "skipped"), count(counts, "float"),
                       count(counts, "folded"), count(counts, "fused")};
    counts.finish();
    if (reader.find("in_float") != nullptr) {
        ObjectReader cost = reader.object("in_float");
        measured.cost = FloatCost{amount(cost, "macs"), amount(cost, "total_macs"), amount(cost, "bytes"),
                                  amount(cost, "total_bytes")};
        cost.text("macs_reason", measured.cost->macsReason);
        cost.finish();
    }
    reader.text("name", measured.name);
    reader.text("note", measured.note);
    reader.boolean("other_model", measured.otherModel);
    reader.text("data", measured.data);
    if (!measured.data.empty()) hashOf(reader.pathOf("data"), measured.data);
    measured.config =
        within(reader.pathOf("config"), [&] { return configFromJson(need(reader, "config").dump()); });
    reader.finish();
    return measured;
}

std::optional<Precision> precisionOf(const std::string& key, const std::string& text) {
    if (text.empty()) return std::nullopt;
    return within(key, [&] { return precisionNamed(text); });
}

const Json& needList(ObjectReader& reader, std::string_view key) {
    static const Json kEmpty = Json::array();
    const Json* value = reader.find(key);
    if (value == nullptr) return kEmpty;
    if (!value->is_array())
        failInput("{}: must be a list, not {}", reader.pathOf(key), describeValue(*value));
    return *value;
}

LatencySource readLatency(ObjectReader reader) {
    LatencySource source;
    std::string precision;
    reader.text("name", source.name);
    reader.text("format", source.file.format);
    reader.text("precision", precision);
    source.precision = precisionOf(reader.pathOf("precision"), precision);
    source.file.runs = count(reader, "runs");
    source.file.networkMs = number(reader, "network_ms");
    for (const Json& row : needList(reader, "layers")) {
        const std::string key = fmt::format("{}[{}]", reader.pathOf("layers"), source.file.rows.size());
        if (!row.is_array() || row.size() != 3 || !row[0].is_string() || !row[1].is_string() ||
            !row[2].is_number() || row[2].get<double>() < 0)
            failInput("{}: must be a list of a name, a precision and a time of at least 0 ms", key);
        source.file.rows.push_back(
            {row[0].get<std::string>(), precisionOf(key, row[1].get<std::string>()), row[2].get<double>()});
    }
    reader.finish();
    return source;
}

void readModel(ObjectReader reader, Project& project, const fs::path& file) {
    need(reader, "path");
    project.model = resolvedPath(reader, "path", file);
    if (project.model.empty()) failInput("{}: is empty", reader.pathOf("path"));
    std::string hash;
    need(reader, "hash");
    reader.text("hash", hash);
    project.modelVersion = hashOf(reader.pathOf("hash"), hash);
    for (const Json& layer : needList(reader, "layers")) {
        const std::string key = fmt::format("model.layers[{}]", project.layers.size());
        bool texts = layer.is_array() && layer.size() == 4;
        for (std::size_t i = 0; texts && i < 4; ++i) texts = layer[i].is_string();
        if (!texts) failInput("{}: must be a list of four strings: name, operator and two hashes", key);
        project.layers.push_back({layer[0].get<std::string>(), layer[1].get<std::string>(),
                                  hashOf(key, layer[2].get<std::string>()),
                                  hashOf(key, layer[3].get<std::string>())});
    }
    reader.finish();
}

void checkFormat(const Json* format) {
    if (format == nullptr) failInput("this is not a Quantloupe project: it has no key '{}'", kProjectMark);
    if (*format == kProjectFormat) return;
    if (!format->is_number())
        failInput("{}: must be the format version, {}, not {}", kProjectMark, kProjectFormat,
                  describeValue(*format));
    fail(ErrorKind::Unsupported,
         "{}: the project has format {}, and this version of Quantloupe reads format {}; use the version "
         "that wrote it",
         kProjectMark, describeValue(*format), kProjectFormat);
}

}  // namespace

Project projectFromJson(std::string_view text, const fs::path& file) {
    const Json json = parseStrictJson(text);
    if (!json.is_object()) failInput("this is not a Quantloupe project: it must be a JSON object");
    ObjectReader reader(json, "", kNoOtherKeys);
    checkFormat(reader.find(kProjectMark));
    Project project;
    need(reader, "model");
    readModel(reader.object("model"), project, file);
    ObjectReader data = reader.object("data");
    project.data = resolvedPath(data, "evaluation", file);
    project.calibration = resolvedPath(data, "calibration", file);
    if (data.find("task") != nullptr) project.task = readTask(data.object("task"), file);
    if (const Json* preprocess = data.find("preprocess"))
        project.preprocess =
            within("data.preprocess", [&] { return preprocessFromJson(preprocess->dump()); });
    data.finish();
    project.config = within("config", [&] { return configFromJson(need(reader, "config").dump()); });
    std::set<std::string> versions;
    for (const Json& entry : needList(reader, "history")) {
        const std::string key = fmt::format("history[{}]", project.history.size());
        project.history.push_back(readMeasured(ObjectReader(entry, key, kNoOtherKeys)));
        if (!versions.insert(project.history.back().version).second)
            failInput("{}.version: duplicate version; remove one", key);
    }
    reader.text("baseline", project.baseline);
    if (!project.baseline.empty() && !versions.contains(project.baseline))
        failInput("baseline: no configuration of the history has the version '{}'", project.baseline);
    for (const Json& entry : needList(reader, "latency"))
        project.latency.push_back(readLatency(
            ObjectReader(entry, fmt::format("latency[{}]", project.latency.size()), kNoOtherKeys)));
    if (const Json* view = reader.find("view")) {
        if (!view->is_object()) failInput("view: must be an object, not {}", describeValue(*view));
        project.view = view->dump();
    }
    reader.finish();
    return project;
}

Project loadProject(const fs::path& file) {
    const std::string text = readFile(file);
    return within(fmt::format("project '{}'", file.filename().string()),
                  [&] { return projectFromJson(text, file); });
}

}  // namespace quantloupe
