// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime: a Chrome trace. An event of category "Node" is one run of a kernel, with its duration in
// microseconds; the category "Session" has one "model_run" per inference
// (https://onnxruntime.ai/docs/performance/tune-performance/profiling-tools.html).
//
// TensorRT: a list that begins with {"count": N} and has one object per layer with the mean and the median of
// its times (trtexec, samples/common/sampleReporting.cpp of https://github.com/NVIDIA/TensorRT).
#include <map>

#include "base/error.h"
#include "base/median.h"
#include "cost/latency_formats.h"

namespace quantloupe {
namespace {

constexpr std::string_view kKernelTime = "_kernel_time";

std::string textOf(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double numberOf(const Json& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number() || !(found->get<double>() >= 0))
        failInput("{}: '{}' must be a number that is at least 0", where, key);
    return found->get<double>();
}

}  // namespace

bool isOnnxRuntimeProfile(const Json& json) {
    if (!json.is_array()) return false;
    for (const Json& event : json)
        if (event.is_object() && textOf(event, "cat") == "Node") return true;
    return false;
}

LatencyFile onnxRuntimeProfile(const Json& json) {
    LatencyFile file{"ONNX Runtime profile", {}, {}, 0};
    std::vector<double> runs;
    // By name and index, because nodes inserted by ONNX Runtime may have the same name.
    std::map<std::pair<std::string, std::string>, std::vector<double>> times;
    std::vector<std::pair<std::string, std::string>> order;
    for (const Json& event : json) {
        if (!event.is_object()) failInput("every entry of a profile must be an object");
        const std::string category = textOf(event, "cat");
        std::string name = textOf(event, "name");
        if (category == "Session" && name == "model_run")
            runs.push_back(numberOf(event, "dur", "model_run") / 1000);
        if (category != "Node" || !name.ends_with(kKernelTime)) continue;
        name.resize(name.size() - kKernelTime.size());
        const auto arguments = event.find("args");
        const bool has = arguments != event.end() && arguments->is_object();
        if (name.empty() && has) name = textOf(*arguments, "op_name");
        const auto [entry, isNew] =
            times.try_emplace({name, has ? textOf(*arguments, "node_index") : std::string()});
        if (isNew) order.push_back(entry->first);
        entry->second.push_back(numberOf(event, "dur", "node '" + name + "'") / 1000);
    }
    if (order.empty()) failInput("no event has the time of a node: a name that ends with '{}'", kKernelTime);
    file.runs = runs.size();
    if (!runs.empty()) file.networkMs = medianOf(runs);
    for (const auto& key : order) {
        const std::vector<double>& durations = times.at(key);
        // A node in the body of a loop runs several times per inference.
        const std::size_t count = std::max<std::size_t>(file.runs, 1);
        const std::size_t each = durations.size() % count == 0 ? durations.size() / count : 1;
        std::vector<double> perRun(durations.size() / each);
        for (std::size_t i = 0; i < durations.size(); ++i) perRun[i / each] += durations[i];
        file.rows.push_back({key.first, {}, medianOf(perRun)});
    }
    return file;
}

bool isTensorRtProfile(const Json& json) {
    if (!json.is_array()) return false;
    for (const Json& layer : json)
        if (layer.is_object() && layer.contains("name") &&
            (layer.contains("averageMs") || layer.contains("medianMs")))
            return true;
    return false;
}

LatencyFile tensorRtProfile(const Json& json) {
    LatencyFile file{"TensorRT profile", {}, {}, 0};
    for (const Json& layer : json) {
        if (!layer.is_object()) failInput("every entry of a profile must be an object");
        if (const auto count = layer.find("count"); count != layer.end() && count->is_number_unsigned())
            file.runs = count->get<std::size_t>();
        if (!layer.contains("name")) continue;
        const std::string name = textOf(layer, "name");
        file.rows.push_back(
            {name, {}, numberOf(layer, layer.contains("medianMs") ? "medianMs" : "averageMs", name)});
    }
    return file;
}

}  // namespace quantloupe
