// SPDX-License-Identifier: Apache-2.0
#include "interchange/wording.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "config/config_fields.h"
#include "config/precision_rules.h"
#include "config/skip_rules.h"
#include "quantize/plan.h"

namespace quantloupe {
namespace {

std::string_view kindWord(SkipKind kind) {
    switch (kind) {
        case SkipKind::Node:
            return "layer";
        case SkipKind::Until:
            return "skip-until";
        case SkipKind::Downstream:
            return "downstream";
        case SkipKind::Type:
            return "operator-type";
        case SkipKind::Pattern:
            return "name-pattern";
        case SkipKind::Block:
            return "identical-blocks";
        case SkipKind::Threshold:
            return "threshold";
    }
    return "such";
}

}  // namespace

std::string jsonQuoted(const std::string& text) {
    try {
        return Json(text).dump();
    } catch (const Json::exception&) {
        failInput("a name in the model is not valid UTF-8, which JSON needs; rename it in the model");
    }
}

std::vector<std::string> ruleNotices(const ExportSource& source, std::string_view tool,
                                     const std::set<SkipKind>& known, bool tail) {
    const Graph& graph = *source.prepared->source;
    const SkipDecisions skips = resolveSkips(graph, source.config);
    std::vector<std::string> notices;
    const auto say = [&](std::string_view kind, const NodeSet& covered, const std::string& rule) {
        std::size_t count = 0;
        for (const LayerResult& layer : source.layers)
            count += layer.node.valid() && layer.state == LayerState::Skipped &&
                     layer.node.index() < covered.size() && covered[layer.node.index()];
        notices.push_back(
            fmt::format("{} has no {} rule: resolved to {}{}", tool, kind, counted(count, "layer"), rule));
    };
    for (std::size_t i = 0; i < source.config.rules.size(); ++i) {
        const SkipRule& rule = source.config.rules[i];
        if (rule.kind == SkipKind::Node || known.contains(rule.kind)) continue;
        say(kindWord(rule.kind), skips.covered[i], fmt::format(" ({})", describe(rule)));
    }
    if (source.config.skipTail && !tail && skips.covered.size() > source.config.rules.size())
        say("tail", skips.covered.back(), "");
    return notices;
}

std::vector<std::string> otherTransforms(const QuantizationConfig& config) {
    const TransformOptions& transforms = config.transforms;
    std::vector<std::string> changes;
    if (transforms.equalization.profile != EqualizationProfile::Off) changes.emplace_back("equalization");
    if (transforms.replaceRelu6 != ReplaceRelu6::None) changes.emplace_back("the replacement of Clip(0, 6)");
    if (transforms.highBiasFold) changes.emplace_back("high-bias folding");
    if (config.refine.migration > 0) changes.emplace_back("outlier migration");
    if (transforms.npuOperators != NpuOperators{}) {
        std::vector<std::string> operators;
        if (transforms.npuOperators.averagePool) operators.emplace_back("means");
        if (transforms.npuOperators.leakyRelu) operators.emplace_back("LeakyRelu");
        if (transforms.npuOperators.sigmoid) operators.emplace_back("Sigmoid");
        changes.push_back(fmt::format("NPU arithmetic for {} (npu_operators)", fmt::join(operators, ", ")));
    }
    return changes;
}

std::vector<std::string> includedTransformNotices(const QuantizationConfig& config) {
    const auto changes = otherTransforms(config);
    if (changes.empty()) return {};
    return {fmt::format("the exported float model already includes {}", fmt::join(changes, " and "))};
}

std::vector<std::string> missingTransformNotices(const QuantizationConfig& config, std::string_view tool) {
    const auto changes = otherTransforms(config);
    if (changes.empty()) return {};
    return {
        fmt::format("{0}'s configuration cannot express {1}: write the transformed model (Export → Equalized "
                    "float model, or quantloupe-cli transform) and pass it to {0}",
                    tool, fmt::join(changes, " and "))};
}

std::vector<std::string> settingNotices(const QuantizationConfig& config, const QuantizationConfig& own,
                                        std::string_view tool, std::initializer_list<std::string_view> keys) {
    std::vector<std::string> differences;
    const auto compare = [&](const Field& field) {
        const OrderedJson mine = field.write(config), theirs = field.write(own);
        const auto hasOther = [&](const auto& layer) {
            const OrderedJson value = field.writeLayer(layer.second);
            return !value.is_null() && value != theirs;
        };
        if (mine != theirs)
            differences.push_back(
                fmt::format("{} {}", field.key, mine.is_string() ? mine.get<std::string>() : mine.dump()));
        else if (field.ofLayer() && std::ranges::any_of(config.layers, hasOther))
            differences.push_back(field.key + " of single layers");
    };
    for (const std::string_view key : keys)
        if (key.ends_with('.'))
            std::ranges::for_each(configFields().below(key), compare);
        else
            compare(configFields().at(key));
    if (differences.empty()) return {};
    return {fmt::format("{} has no keys for these settings of the preview, so its results can differ: {}",
                        tool, shortList(differences))};
}

std::vector<std::string> layerSettingNotices(const QuantizationConfig& config, std::string_view tool,
                                             bool bits) {
    const Precision common = precisionOf(config, {});
    const auto own = static_cast<std::size_t>(std::ranges::count_if(config.layers, [&](const auto& layer) {
        LayerSettings rest = layer.second;
        rest.quantize.reset();
        rest.comment.clear();
        if (rest.precision && (!rest.precision->isInteger() || *rest.precision == common))
            rest.precision.reset();
        if (!bits) {
            rest.precision.reset();
            rest.weightBits.reset();
            rest.activationBits.reset();
        }
        return !rest.empty();
    }));
    if (own == 0) return {};
    return {fmt::format("{}'s script has one scheme for all layers: the settings of {} are left out", tool,
                        counted(own, "layer"))};
}

std::string quantFormatNotice(std::string_view format) {
    return fmt::format(
        "quant_format {}: a configuration does not choose the format of the quantized model; 'quantloupe-cli "
        "export --to qoperator' writes integer operators",
        format);
}

std::string layersStay(std::size_t count) {
    return fmt::format("{} {}", counted(count, "layer"), count == 1 ? "stays" : "stay");
}

std::vector<std::string> roundingNotices(const QuantizationConfig& config, std::string_view tool) {
    if (config.quantization.rounding == TieRounding::HalfEven) return {};
    return {
        fmt::format("the preview rounds ties as AIMET does (quantization.rounding aimet), but {} rounds "
                    "them to even: a few codes differ; set half_even to preview that",
                    tool)};
}

std::vector<std::string> saturationNotices(const QuantizationConfig& config, const UnitList& units,
                                           bool integerOperators) {
    const auto hasWeight = [](const Unit& unit) { return unit.quantized && unit.weight.valid(); };
    if (std::ranges::none_of(units.units, hasWeight)) return {};
    const QuantizationOptions& q = config.quantization;
    if (!q.weight.isSigned || (integerOperators && q.activation.isSigned)) return {};
    const Precision eight = Precision::integer(8, 8);
    const auto byRule = [&](const auto& rule) { return !rule.covers.off && rule.precision == eight; };
    const auto bySetting = [&](const auto& layer) {
        const LayerSettings& own = layer.second;
        return own.precision == eight || (own.weightBits.value_or(q.weight.bits) == 8 &&
                                          own.activationBits.value_or(q.activation.bits) == 8);
    };
    if ((q.weight.bits != 8 || q.activation.bits != 8) &&
        std::ranges::none_of(config.precisionRules, byRule) && std::ranges::none_of(config.layers, bySetting))
        return {};
    return {
        "on x86 processors without VNNI, ONNX Runtime's default optimizations use kernels that can saturate "
        "with 8-bit weights, unlike the preview: 7-bit weights, or the session option "
        "session.x64quantprecision, avoid this"};
}

std::vector<std::string> biasNotices(const Plan& plan) {
    const Graph& graph = *plan.prepared->graph;
    std::vector<std::string> layers;
    for (std::size_t u = 0; u < plan.units.units.size(); ++u) {
        const Unit& unit = plan.units.units[u];
        const UnitQuantizers& own = plan.quantizers[u];
        if (!unit.quantized || !unit.bias.valid() || !own.weight || (own.bias && own.bias->bits == 32))
            continue;
        const Constant& bias = own.correctedBias ? *own.correctedBias : *graph.constantOf(unit.bias);
        const std::vector<float>& scales = own.weight->scales;
        bool fits = true;
        for (std::size_t c = 0; c < bias.floats().size(); ++c) {
            const double unitOfSums =
                static_cast<double>(own.inputs[0].scale) * static_cast<double>(scales[c % scales.size()]);
            fits = fits && std::abs(static_cast<double>(bias.floats()[c])) <=
                               unitOfSums * std::numeric_limits<std::int32_t>::max();
        }
        if (!fits) layers.push_back(fmt::format("'{}'", shortName(graph.node(unit.layer).name)));
    }
    if (layers.empty()) return {};
    return {
        fmt::format("unlike the preview, ONNX Runtime's default optimizations clip the biases of {}, which "
                    "do not fit int32 in the scale of the sums: set quantization.bias_bits to 32",
                    shortList(layers))};
}

std::vector<std::string> refinementNotices(const ExportSource& source, std::string_view tool) {
    std::vector<std::string> notices;
    if (source.config.refine.biasCorrection != BiasCorrection::Off)
        notices.push_back(fmt::format(
            "the corrected biases of the preview are not part of this export: {} gets the float biases",
            tool));
    if (source.config.refine.rounding != Rounding::Nearest)
        notices.push_back(fmt::format(
            "the learned rounding of the preview is not part of this export: {} rounds to the nearest code",
            tool));
    return notices;
}

std::vector<std::string> placementNotices(const ExportSource& source, std::string_view tool) {
    if (source.config.quantization.placement != Placement::WeightedInputs) return {};
    return {fmt::format(
        "the preview quantizes only the inputs of weighted layers (placement weighted_inputs), as AMCT does, "
        "but {} also quantizes layer outputs",
        tool)};
}

std::vector<std::string> previewNotices(const ExportSource& source, std::string_view tool) {
    std::vector<std::string> notices = roundingNotices(source.config, tool);
    append(notices, refinementNotices(source, tool));
    append(notices, placementNotices(source, tool));
    return notices;
}

std::vector<std::string> knownLayers(const ImportSource& source, const std::vector<std::string>& names,
                                     ImportResult& result) {
    std::vector<std::string> found;
    for (const std::string& given : names) {
        const std::string& name = source.layerName(given);
        if (source.graph->findNode(name))
            found.push_back(name);
        else
            result.leave(unknownLayer(*source.graph, name));
    }
    return found;
}

void forgetSkips(QuantizationConfig& config) {
    config.rules.clear();
    config.skipTail = config.wholeTail = false;
    config.precisionRules.clear();
    for (auto layer = config.layers.begin(); layer != config.layers.end();) {
        layer->second.quantize.reset();
        layer->second.precision.reset();
        layer = layer->second.empty() ? config.layers.erase(layer) : std::next(layer);
    }
}

void forgetLayers(QuantizationConfig& config, bool keepCalibration) {
    for (auto& [name, settings] : config.layers) {
        const LayerSettings before = std::exchange(settings, {});
        settings.comment = before.comment;
        if (!keepCalibration) continue;
        settings.calibrationMethod = before.calibrationMethod;
        settings.calibrationParameters = before.calibrationParameters;
    }
    forgetSkips(config);
}

void takeSkips(const std::vector<std::string>& names, ImportResult& result) {
    if (names.empty()) return;
    SkipRule rule;
    rule.layers = names;
    result.config.rules.push_back(std::move(rule));
    result.taken.push_back(fmt::format("{} in float", layersStay(names.size())));
}

}  // namespace quantloupe
