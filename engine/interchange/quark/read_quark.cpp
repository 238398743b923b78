// SPDX-License-Identifier: Apache-2.0
#include "interchange/quark/read_quark.h"

#include <algorithm>

#include "base/error.h"
#include "config/name_pattern.h"
#include "config/presets.h"
#include "interchange/quark/quark_settings.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {

namespace {

/// Quark knows only names, but our patterns also match the paths of modules. Returns the layers whose names
/// match if these are not all that the pattern matches.
std::optional<std::vector<std::string>> layersThatOnlyNamesMatch(const Graph& graph,
                                                                 const std::string& pattern) {
    const NamePattern compiled(pattern);
    std::vector<std::string> names;
    bool others = false;
    for (const Node& node : graph.nodes()) {
        if (compiled.matchesName(node))
            names.push_back(node.name);
        else
            others = others || compiled.matches(node);
    }
    return others ? std::optional(std::move(names)) : std::nullopt;
}

}  // namespace

void startQuarkImport(QuantizationConfig& config) {
    forgetLayers(config);
    config.quantization = presetConfig("quark-a8w8").quantization;
    config.calibration.quantizedWeights = false;
}

void takeQuarkExclusions(const ImportSource& source, const std::vector<std::string>& names,
                         ImportResult& result) {
    const Graph& graph = *source.graph;
    std::vector<std::string> nodes;
    for (const std::string& name : names) {
        if (name.starts_with('^')) {
            if (const auto matched = layersThatOnlyNamesMatch(graph, name)) {
                nodes.insert(nodes.end(), matched->begin(), matched->end());
                continue;
            }
            SkipRule rule;
            rule.kind = SkipKind::Pattern;
            rule.regex = name;
            result.config.rules.push_back(rule);
            result.taken.push_back(fmt::format("layers that match {} stay in float", name));
            continue;
        }
        std::string node = name;
        if (!graph.findNode(source.layerName(name)))
            if (const auto tensor = graph.findTensor(name); tensor && graph.tensor(*tensor).producer.valid())
                node = graph.node(graph.tensor(*tensor).producer).name;
        if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
    }
    takeSkips(knownLayers(source, nodes, result), result);
}

void takeQuarkNpu(bool npu, QuantizationConfig& config) {
    const QuantizationConfig quark = presetConfig("quark-xint8");
    config.quantization.operators = OperatorSet::Quark;
    config.quantization.npuPositions = npu ? quark.quantization.npuPositions : NpuPositions{};
    config.transforms.npuOperators = npu ? quark.transforms.npuOperators : NpuOperators{};
}

namespace {

/// Returns the rule or conversion of the NPU mode that an extra option disables; null for other options.
bool* quarkNpuFlag(std::string_view option, QuantizationConfig& config) {
    for (const auto& [name, rule] : kQuarkPositionFlags)
        if (name == option) return &(config.quantization.npuPositions.*rule);
    for (const auto& [name, conversion] : kQuarkOperatorFlags)
        if (name == option) return &(config.transforms.npuOperators.*conversion);
    return nullptr;
}

}  // namespace

bool takeQuarkFlag(std::string_view option, const std::function<bool()>& value, QuantizationConfig& config) {
    QuantizationOptions& q = config.quantization;
    if (option == "QuantizeBias") {
        if (!value()) q.biasBits = kFloatBias;
    } else if (option == "FoldBatchNorm") {
        config.transforms.foldBatchNorm = value();
    } else if (option == "Int32Bias") {
        if (value()) q.biasBits = 32;
    } else if (option == "Int16Bias") {
        if (value()) q.biasBits = 16;
    } else if (option == "SimulateDPU") {
        if (!value()) config.transforms.npuOperators = {};
    } else if (option == "NPULimitationCheck") {
        if (!value()) q.npuPositions = {};
    } else if (bool* const rule = quarkNpuFlag(option, config)) {
        *rule = value() && *rule;
    } else
        return false;
    return true;
}

void takeQuarkSubgraph(const ImportSource& source, const std::vector<std::string>& starts,
                       const std::vector<std::string>& ends, ImportResult& result) {
    const auto to = knownLayers(source, ends, result);
    for (const std::string& from : knownLayers(source, starts, result)) {
        if (to.empty()) return;
        SkipRule rule;
        rule.kind = SkipKind::Until;
        rule.from = from;
        rule.to = to;
        result.config.rules.push_back(rule);
        result.taken.push_back(fmt::format("from {} until {} stays in float", from, shortList(to)));
    }
}

bool takeIntegerType(std::string_view name, int& bits, bool& isSigned) {
    for (const bool with : {true, false})
        for (const int width : {4, 8, 16})
            if (name == fmt::format("{}Int{}", with ? "" : "U", width)) {
                bits = width;
                isSigned = with;
                return true;
            }
    return false;
}

bool takeQuarkMethod(std::string_view name, bool powerOfTwo, QuantizationConfig& config) {
    auto& method = config.calibration.method;
    if (name == "MinMSE")
        method = CalibrationMethod::PowerOfTwoMinMse;
    else if (name == "NonOverflow" || (name == "MinMax" && powerOfTwo))
        method = CalibrationMethod::PowerOfTwoNonOverflow;
    else if (name == "MinMax")
        method = CalibrationMethod::MinMax;
    else if (name == "Percentile")
        method = CalibrationMethod::Percentile;
    else if (name == "Entropy")
        method = CalibrationMethod::Entropy;
    else
        return false;
    config.calibration.parameters = {};
    config.quantization.activation.powerOfTwo = powerOfTwo && !isPowerOfTwo(method);
    return true;
}

bool takeQuarkCalibration(std::string_view option, const Json& value, QuantizationConfig& config) {
    CalibrationOptions& calibration = config.calibration;
    if (option == kQuarkMovingAverage) {
        if (!value.is_boolean()) return false;
        if (value.get<bool>() && calibration.method == CalibrationMethod::MinMax) {
            calibration.method = CalibrationMethod::MovingAverage;
            calibration.parameters.averagingConstant = 0;  // the plain mean
        }
        return true;
    }
    const auto known =
        std::ranges::find(kQuarkParameters, option, [](const auto& parameter) { return parameter.option; });
    if (known == std::end(kQuarkParameters)) return false;
    // Quark's other methods ignore the option.
    if (std::ranges::count(known->methods, calibration.method) == 0) return true;
    Json ours = value;
    if (option == kQuarkMode) ours = value == "MostCommon" ? "most_common" : value == "All" ? "all" : "";
    try {
        setConfigKey(config, known->key, ours.is_string() ? ours.get<std::string>() : ours.dump());
    } catch (const Error&) {
        return false;
    }
    return true;
}

ImportResult readQuark(const ImportSource& source) {
    const std::size_t first = source.text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (first == std::string::npos)
        failInput("the file is empty: expected Quark's QConfig JSON or a Python script");
    return source.text[first] == '{' ? readQuarkJson(source) : readQuarkScript(source);
}

}  // namespace quantloupe
