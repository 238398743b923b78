// SPDX-License-Identifier: Apache-2.0
// Qualcomm: one event per line. Events with the message NODE are layers; their time is in microseconds or in
// cycles. The events "Accelerator (execute) time" in both units give the duration of a cycle. ONNX Runtime's
// QNN provider writes the same columns as qnn-profile-viewer
// (onnxruntime/core/providers/qnn/builder/qnn_profile_serializer.cc).
//
// Hailo: one line per network with hw_latency in milliseconds; a Hailo device computes its layers as a
// pipeline, and hailortcli measures none of them separately (infer_stats_printer.cpp of
// https://github.com/hailo-ai/hailort).
#include <map>

#include "base/error.h"
#include "base/median.h"
#include "cost/latency_formats.h"

namespace quantloupe {
namespace {

/// Removes the suffixes that qnn-profile-viewer appends: "Conv_0:OpId_21 (cycles)".
std::string nodeName(std::string name) {
    if (name.ends_with(" (cycles)")) name.resize(name.size() - 9);
    if (const auto id = name.rfind(":OpId_"); id != std::string::npos) name.resize(id);
    return name;
}

}  // namespace

bool isQualcommProfile(const CsvTable& table) {
    return table.column("event identifier") && table.column("message") && table.column("time") &&
           table.column("unit of measurement");
}

LatencyFile qualcommProfile(const CsvTable& table) {
    const std::size_t message = *table.column("message"), time = *table.column("time"),
                      unit = *table.column("unit of measurement"), name = *table.column("event identifier");
    LatencyFile file{"Qualcomm profile", {}, {}, 0};
    double cycles = 0, microseconds = 0;
    bool inCycles = false;
    std::map<std::string, std::vector<double>> times;
    std::vector<std::string> order;
    std::vector<double> runs;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        const std::vector<std::string>& row = table.rows[r];
        const bool cyclesHere = row[unit] == "CYCLES";
        if (!cyclesHere && row[unit] != "US") continue;  // COUNT, BYTES
        if (row[message] == "NODE") {
            if (row[name].empty() || row[name] == "NULL") continue;
            inCycles = inCycles || cyclesHere;
            const auto [entry, isNew] = times.try_emplace(nodeName(row[name]));
            if (isNew) order.push_back(entry->first);
            entry->second.push_back(nonnegativeCell(table, r, time));
        } else if (row[name] == "Accelerator (execute) time (cycles)" ||
                   (row[name] == "Accelerator (execute) time" && cyclesHere)) {
            cycles += nonnegativeCell(table, r, time);
        } else if (row[name] == "Accelerator (execute) time") {
            microseconds += nonnegativeCell(table, r, time);
            runs.push_back(nonnegativeCell(table, r, time) / 1000);
        }
    }
    if (inCycles && !(cycles > 0 && microseconds > 0))
        failInput(
            "the layer times are in cycles, but the file does not contain the events 'Accelerator (execute) "
            "time' in cycles and in microseconds, which are needed to convert them; use the profiling level "
            "basic or detailed, not only linting");
    const double msPerUnit = inCycles ? microseconds / cycles / 1000 : 0.001;
    for (const std::string& key : order) file.rows.push_back({key, {}, medianOf(times.at(key)) * msPerUnit});
    file.runs = runs.size();
    if (!runs.empty()) file.networkMs = medianOf(runs);
    return file;
}

bool isHailoProfile(const CsvTable& table) {
    return table.column("net_name") && table.column("hw_latency") && table.column("overall_latency");
}

LatencyFile hailoProfile(const CsvTable& table) {
    const std::size_t column = *table.column("hw_latency");
    std::vector<double> runs;
    for (std::size_t r = 0; r < table.rows.size(); ++r)
        if (!table.rows[r][column].empty()) runs.push_back(nonnegativeCell(table, r, column));
    if (runs.empty())
        failInput("column 'hw_latency' is empty; measure with: hailortcli run --measure-latency --csv FILE");
    return {"Hailo measurement", {}, medianOf(runs), runs.size()};
}

}  // namespace quantloupe
