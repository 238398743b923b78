// SPDX-License-Identifier: Apache-2.0
#include "cost/latency_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/input_file.h"
#include "base/strict_json.h"
#include "cost/latency_formats.h"

namespace quantloupe {
namespace {

constexpr std::uint64_t kMaxBytes = 64u << 20;
constexpr std::size_t kMaxName = 4096;
constexpr double kMaxMs = 1e9;

LatencyFile plainProfile(const CsvTable& table) {
    const auto layer = table.columnOf({"layer", "layer_name", "name"});
    const auto precision = table.column("precision");
    const auto ms = table.columnOf({"ms", "time_ms", "latency_ms"}),
               us = table.columnOf({"us", "time_us", "latency_us"});
    if (!layer || (!ms && !us))
        failInput(
            "the format of this profile is unknown. A CSV needs the columns 'layer' and 'ms', and optionally "
            "'precision'; other supported formats are those of ONNX Runtime, trtexec --exportProfile, "
            "qnn-profile-viewer and hailortcli");
    LatencyFile file{"CSV", {}, {}, 0};
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        LatencyRow row{table.rows[r][*layer], {}, 0};
        if (row.name.empty()) failInput("line {}: the layer has no name", table.lines[r]);
        row.ms = ms ? nonnegativeCell(table, r, *ms) : nonnegativeCell(table, r, *us) / 1000;
        if (precision && !table.rows[r][*precision].empty()) {
            try {
                row.precision = precisionNamed(table.rows[r][*precision]);
            } catch (Error& error) {
                throw error.addContext(fmt::format("line {}", table.lines[r]));
            }
        }
        file.rows.push_back(std::move(row));
    }
    return file;
}

void requireUsable(const LatencyFile& file) {
    if (file.rows.empty() && !file.networkMs) failInput("the profile has no layer");
    double most = file.networkMs.value_or(0);
    for (const LatencyRow& row : file.rows) {
        if (row.name.size() > kMaxName)
            failInput("the name that begins with '{}' has {} characters; a name has at most {}",
                      row.name.substr(0, 40), row.name.size(), kMaxName);
        if (row.ms > kMaxMs)
            failInput("'{}' takes {:g} ms; a time must be at most {:g} ms", row.name, row.ms, kMaxMs);
        most = std::max(most, row.ms);
    }
    if (file.networkMs.value_or(0) > kMaxMs)
        failInput("the network takes {:g} ms; a time must be at most {:g} ms", *file.networkMs, kMaxMs);
    if (most <= 0) failInput("no time of the profile is above 0");
}

LatencyFile parseAny(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && (text[first] == '[' || text[first] == '{')) {
        const Json json = parseStrictJson(text);
        if (isOnnxRuntimeProfile(json)) return onnxRuntimeProfile(json);
        if (isTensorRtProfile(json)) return tensorRtProfile(json);
        failInput(
            "this JSON is neither a profile of ONNX Runtime (a list of events with 'cat': 'Node') nor one of "
            "trtexec --exportProfile (a list of layers with 'averageMs')");
    }
    const CsvTable table = parseCsv(text);
    if (isQualcommProfile(table)) return qualcommProfile(table);
    if (isHailoProfile(table)) return hailoProfile(table);
    return plainProfile(table);
}

}  // namespace

LatencyFile parseLatency(std::string_view text) {
    LatencyFile file = parseAny(text);
    requireUsable(file);
    return file;
}

LatencyFile readLatencyFile(const std::filesystem::path& path) {
    try {
        LatencyFile file = parseLatency(readFile(path, kMaxBytes));
        file.path = path;
        return file;
    } catch (Error& error) {
        throw error.addContext(fmt::format("profile '{}'", path.string()));
    }
}

}  // namespace quantloupe
