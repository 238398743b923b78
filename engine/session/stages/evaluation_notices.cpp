// SPDX-License-Identifier: Apache-2.0
#include "session/stages/evaluation_notices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/is_one_of.h"
#include "base/short_text.h"
#include "base/text.h"
#include "config/precision_rules.h"
#include "config/skip_rules.h"
#include "quantize/float_layers.h"

namespace quantloupe {
namespace {

/// SQNR in dB of the transformed network against the source. Float rounding alone gives higher values; below
/// this one, the transforms have changed the function.
constexpr double kRoundingSqnr = 60;

std::vector<std::string> idleRuleNotices(const Graph& source, const QuantizationConfig& config,
                                         const std::vector<LayerResult>& layers) {
    std::vector<bool> applied(config.precisionRules.size());
    const auto rules = coveringPrecisionRules(source, config);
    for (std::size_t n = 0; n < rules.size(); ++n) {
        const LayerState state = layers[n].state;
        if (rules[n] && state != LayerState::Float && state != LayerState::Folded &&
            layers[n].precision == config.precisionRules[*rules[n]].precision)
            applied[*rules[n]] = true;
    }
    std::vector<std::string> notices;
    for (std::size_t r = 0; r < applied.size(); ++r)
        if (!applied[r] && !config.precisionRules[r].covers.off)
            notices.push_back(fmt::format("precision rule {} ({}) has no effect: {}", r + 1,
                                          describe(config.precisionRules[r]),
                                          any(coveredBy(source, config.precisionRules[r].covers))
                                              ? "its layers cannot be quantized, are kept in float, or get "
                                                "their precision from a later rule or a setting of their own"
                                              : "the model has no such layer"));
    return notices;
}

/// Returns whether a layer has settings besides its precision and whether it is quantized.
bool hasSchemeOfItsOwn(LayerSettings settings) {
    settings.quantize.reset();
    settings.precision.reset();
    settings.comment.clear();
    return !settings.empty();
}

}  // namespace

std::vector<std::string> idleSettingNotices(const Graph& source, const QuantizationConfig& config,
                                            const std::vector<LayerResult>& layers) {
    std::vector<std::string> notices;
    const auto noteWith = [&](const std::string& name, const char* setting, std::string_view what) {
        notices.push_back(fmt::format("{} '{}' has no effect: {}", setting, name, what));
    };
    const auto note = [&](const std::string& name, const char* setting) {
        const auto node = source.findNode(name);
        if (!node) return;
        const LayerResult& layer = layers[node->index()];
        if (layer.state == LayerState::Folded)
            noteWith(name, setting, fmt::format("it is folded into '{}'", layer.host));
        else if (layer.state == LayerState::Float)
            noteWith(name, setting, layer.reason);
    };
    // Layers that run inside another one have no quantizers of their own.
    const auto noteOfQuantizers = [&](const std::string& name, const char* setting, bool passes) {
        const auto node = source.findNode(name);
        if (!node) return;
        const LayerResult& layer = layers[node->index()];
        if (layer.state == LayerState::Fused)
            noteWith(name, setting, fmt::format("it runs inside '{}'", layer.host));
        else if (passes && passesScale(layer))
            noteWith(name, setting, fmt::format("it {}", kPassesScale));
        else
            note(name, setting);
    };
    for (const SkipRule& rule : config.rules)
        if (rule.kind == SkipKind::Node && !rule.off)
            for (const std::string& name : rule.layers) note(name, "skipping");
    for (std::size_t r = 0; r < config.rules.size(); ++r)
        if (const SkipRule& rule = config.rules[r];
            rule.kind == SkipKind::Type && !rule.off && !any(coveredBy(source, rule)))
            notices.push_back(fmt::format("skip rule {} ({}) has no effect: the model has no such layer",
                                          r + 1, describe(rule)));
    for (const auto& [name, settings] : config.layers)
        if (settings.precision && *settings.precision != Precision::float32())
            noteOfQuantizers(name, "the precision of", false);
        else if (hasSchemeOfItsOwn(settings))
            noteOfQuantizers(name, "changing the settings of", true);
        else if (settings.quantize == true)
            note(name, "quantizing");
    append(notices, idleRuleNotices(source, config, layers));
    return notices;
}

std::optional<std::string> computedConstantsNotice(const std::vector<LayerResult>& layers) {
    const auto advised = static_cast<std::size_t>(std::ranges::count_if(layers, [](const LayerResult& layer) {
        return layer.state == LayerState::Float && layer.reason.find(kSimplifyAdvice) != std::string::npos;
    }));
    if (advised == 0) return std::nullopt;
    return fmt::format("{} {} in float, because weights or biases are computed from constants: {}",
                       counted(advised, "layer"), advised == 1 ? "stays" : "stay", kSimplifyAdvice);
}

std::optional<std::string> labelNotice(const Dataset& data, const NetworkOutputs& outputs) {
    if (!mayHaveClasses(data)) return std::nullopt;
    if (const SampleAnnotation* first = data.annotation(0); first != nullptr && !first->tokens.empty())
        return fmt::format(
            "'labels' is ignored: it contains {0} numbers for each sample, but no output has scores for {0} "
            "tokens, and class labels are one number per sample",
            first->tokens.size());
    if (!data.hasLabels()) return std::nullopt;
    if (!outputs.classifies())
        return "the labels are not used: the first output is not a vector of class scores for each sample; "
               "--class-output, or Labels in the window, chooses another output";
    const std::size_t classes = outputs.classCount();
    std::size_t beyond = 0;
    for (std::size_t s = 0; s < data.size(); ++s) {
        const auto label = data.label(s);
        if (label && static_cast<std::size_t>(*label) >= classes) ++beyond;
    }
    const std::shared_ptr<const TaskLabels> task = data.taskLabels();
    const std::size_t named = data.classNames().size();
    if (beyond == 0 && named > 0 && named < classes && (!task || task->settings.classNames.empty()))
        return fmt::format(
            "the data has {} named classes and the network {}: names are numbered in alphabetical order, so "
            "the labels are wrong if one is missing; --class-names, or Labels in the window, gives all "
            "names in the order of the network's classes",
            named, classes);
    if (beyond == 0) return std::nullopt;
    return fmt::format(
        "{} of {} labels are not among the network's {} classes and count as wrong; is this the right data?",
        beyond, data.size(), classes);
}

std::optional<std::string> joinedRangesNotice(const Plan& plan) {
    constexpr float kMuchLarger = 32;  // 8 bits leave at most 8 codes for the smaller part
    const Unit* worst = nullptr;
    float ratio = kMuchLarger;
    for (std::size_t u = 0; u < plan.units.units.size(); ++u) {
        const Unit& unit = plan.units.units[u];
        if (!unit.quantized || plan.prepared->graph->node(unit.layer).op != "Concat") continue;
        std::vector<float> scales;  // without tensors of zeros, whose scale is 1
        for (const TensorQuantizer& input : plan.quantizers[u].inputs)
            if (input.scale != 1 || input.zeroPoint != 0) scales.push_back(input.scale);
        if (scales.empty()) continue;
        const auto [least, most] = std::ranges::minmax(scales);
        if (most > ratio * least) worst = &unit, ratio = most / least;
    }
    if (worst == nullptr) return std::nullopt;
    return fmt::format(
        "the Concat '{}' joins tensors of which one has a range {:.0f} times as large as that of another "
        "one, which therefore loses its precision with the common scale; keep the layer in float (boxes and "
        "scores of a detector, for example)",
        shortName(plan.prepared->graph->node(worst->layer).name), ratio);
}

std::optional<std::string> undefinedNotice(const Dataset& data, const NetworkOutputs& floating,
                                           const NetworkOutputs& quantized, const Accuracy& accuracy) {
    if (!accuracy.sqnrDb || !std::isnan(*accuracy.sqnrDb)) return std::nullopt;
    for (const NetworkOutputs* outputs : {&floating, &quantized}) {
        std::size_t undefined = 0;
        std::string first;
        for (std::size_t s = 0; s < outputs->known && s < data.size(); ++s) {
            const float* row = outputs->row(s);
            if (std::all_of(row, row + outputs->rowWidth, [](float value) { return std::isfinite(value); }))
                continue;
            if (undefined++ == 0) first = data.sampleName(s);
        }
        if (undefined == 0) continue;
        return fmt::format(
            "the {} network's output contains NaN or infinity for {} of {} samples (the first is '{}'): {}",
            outputs == &floating ? "float" : "quantized", undefined, outputs->known, first,
            outputs == &floating
                ? "SQNR and the metrics of the layers are undefined; check these samples, or leave them out"
                : "SQNR is undefined, and the other accuracies are meaningless for these samples; keep the "
                  "first layer with such values in float");
    }
    return std::nullopt;
}

std::optional<std::string> outputNotice(const Accuracy& accuracy) {
    constexpr double kMuchLess = 6;  // dB
    if (!accuracy.sqnrDb || accuracy.outputs.empty()) return std::nullopt;
    const OutputDifference& worst =
        *std::ranges::min_element(accuracy.outputs, {}, &OutputDifference::sqnrDb);
    if (!(worst.sqnrDb < *accuracy.sqnrDb - kMuchLess)) return std::nullopt;
    if (std::isinf(worst.sqnrDb))
        return fmt::format("the output '{}' is all zero in float, but not if the network is quantized",
                           shortName(worst.name));
    return fmt::format(
        "the SQNR of {:.1f} dB is that of all outputs together, in which large values dominate; that of the "
        "output '{}' alone is {:.1f} dB",
        *accuracy.sqnrDb, shortName(worst.name), worst.sqnrDb);
}

std::optional<std::string> driftNotice(const Prepared& prepared, const TransformOptions& transforms,
                                       const Accuracy& accuracy) {
    const bool drifts = accuracy.sqnrDb && *accuracy.sqnrDb < kRoundingSqnr;
    if (!drifts) return std::nullopt;
    std::vector<std::string> causes;
    if (prepared.replacedClips > 0)
        causes.push_back(fmt::format("Relu only equals Clip(0, 6) if no value exceeds 6 ({} were replaced)",
                                     prepared.replacedClips));
    if (prepared.foldedHighBias)
        causes.emplace_back("high-bias folding is only exact if activations stay above the shifted amount");
    if (transforms.npuOperators != NpuOperators{})
        causes.emplace_back(
            "the NPU computes averages, LeakyRelu and Sigmoid in other ways (transforms.npu_operators)");
    const auto selects = [](const Node& node) {
        return isOneOf(node.op, {"TopK", "ArgMax", "ArgMin", "NonMaxSuppression"});
    };
    if (const auto node = std::ranges::find_if(prepared.graph->nodes(), selects);
        node != prepared.graph->nodes().end() && causes.empty())
        causes.push_back(
            fmt::format("of values with nearly the same score, rounding lets '{}' ({}) select others",
                        shortName(node->name), node->op));
    if (causes.empty())
        causes.emplace_back(
            "these transforms should be exact up to rounding, so do not trust them on this model");
    return fmt::format(
        "the transforms alone reduce the SQNR of the float network's outputs to {:.1f} dB (largest "
        "difference {:.3g}): {}",
        *accuracy.sqnrDb, accuracy.maxAbsDiff.value_or(0), fmt::join(causes, "; "));
}

}  // namespace quantloupe
