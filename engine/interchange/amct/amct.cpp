// SPDX-License-Identifier: Apache-2.0
// AMCT's config.json, as AMCT's own generator writes it: the global keys in the same order, then a complete
// entry for every layer that AMCT can quantize, sorted by name. Float layers (quant_enable false) have one,
// too, so that they can be enabled by hand. Like AMCT's generator, every entry sets `asymmetric`, which
// overrides the global activation_offset.

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "config/config_choices.h"
#include "config/presets.h"
#include "interchange/amct/amct_document.h"
#include "interchange/amct/amct_layers.h"
#include "interchange/amct/amct_simple.h"
#include "interchange/text/python_text.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

using Entry = AmctExportEntry;

/// The text of a notice, and the layers that it applies to.
using Groups = std::map<std::string, std::vector<std::string>>;

const char* word(bool value) { return value ? "true" : "false"; }

/// Returns `requested` if AMCT supports it in this layer. Otherwise returns 8 and adds the reason to `bits`.
int weightBits(int requested, const AmctLayer& layer, const std::string& name, Groups& bits) {
    std::string reason;
    if (requested != 4 && requested != 6 && requested != 7 && requested != 8)
        reason = "AMCT supports only 4, 6, 7 and 8";
    else if ((requested == 6 || requested == 7) && !layer.sixAndSevenBits)
        reason = "AMCT supports 6 and 7 only in two-dimensional Conv";
    else if (requested == 4 && !layer.fourBits)
        reason = "AMCT supports 4 only with one group and an even number of input channels";
    if (reason.empty()) return requested;
    bits[fmt::format("{} weight bits become 8, because {}", requested, reason)].push_back(name);
    return 8;
}

/// Returns the settings for the layer's input: the layer's own if only inputs are quantized, otherwise those
/// of the layer that produces the input.
/// `can`: what AMCT supports for the layer.
AmctActivation makeActivation(const Graph& graph, const Node& node, const AmctLayer& can,
                              const QuantizationConfig& config, Groups& said) {
    static const LayerSettings kNone;
    const bool ownInput = config.quantization.placement == Placement::WeightedInputs;
    const auto maker = ownInput ? std::nullopt : amctInputMaker(graph, node);
    const LayerSettings* const layer = config.settingsOf(node.name);
    const LayerSettings* const found = ownInput ? layer
                                       : maker  ? config.settingsOf(graph.node(*maker).name)
                                                : nullptr;
    const LayerSettings& own = found == nullptr ? kNone : *found;
    AmctActivation a;
    a.asymmetric = !own.activationSymmetric.value_or(config.quantization.activation.symmetric);
    // With a precision on either side, the input is converted to the bits of the layer that reads it.
    const auto hasPrecision = [](const LayerSettings& settings) {
        return settings.precision && settings.precision->isInteger();
    };
    const LayerSettings& reader = layer == nullptr ? kNone : *layer;
    const bool converted = hasPrecision(reader) || hasPrecision(own);
    a.bits = (converted ? reader : own).activationBits.value_or(config.quantization.activation.bits);
    if (a.bits != 4 && a.bits != 8 && !(a.bits == 16 && can.sixteenBits)) {
        said[fmt::format(
                 "{} activation bits become 8, because AMCT supports 4, 8 and, in Gemm and in Conv and "
                 "ConvTranspose of one or two dimensions only, 16",
                 a.bits)]
            .push_back(node.name);
        a.bits = 8;
    }
    const CalibrationMethod method = own.calibrationMethod.value_or(config.calibration.method);
    const auto parameter = [&](auto member, auto otherwise) {
        const auto& mine = own.calibrationParameters.*member;
        return mine ? *mine : (config.calibration.parameters.*member).value_or(otherwise);
    };
    using P = CalibrationParameters;
    a.hfmg = method == CalibrationMethod::Hfmg;
    if (a.hfmg) a.numOfBins = parameter(&P::numOfBins, a.numOfBins);
    if (method != CalibrationMethod::Ifmr) return a;
    a.maxPercentile = parameter(&P::maxPercentile, a.maxPercentile);
    a.minPercentile = parameter(&P::minPercentile, a.minPercentile);
    a.searchRange = parameter(&P::searchRange, a.searchRange);
    a.searchStep = parameter(&P::searchStep, a.searchStep);
    return a;
}

Entry makeEntry(const Graph& graph, const Node& node, const AmctLayer& layer,
                const QuantizationConfig& config, bool enabled, Groups& groups) {
    static const LayerSettings kNone;
    const LayerSettings* const found = config.settingsOf(node.name);
    const LayerSettings& own = found == nullptr ? kNone : *found;
    Groups discarded;  // losses of float layers are irrelevant
    Groups& said = enabled ? groups : discarded;

    Entry entry;
    entry.name = node.name;
    entry.enabled = enabled;
    entry.hasWeight = layer.hasWeight;
    entry.activation = makeActivation(graph, node, layer, config, said);
    if (layer.symmetricOnly && *entry.activation.asymmetric) {
        said
            ["AMCT supports three-dimensional convolutions only with symmetric activations, so these become "
             "symmetric"]
                .push_back(node.name);
        entry.activation.asymmetric = false;
    }
    if (config.refine.rounding == Rounding::Adaround) entry.weight.algorithm = AmctWeightAlgorithm::Ada;
    if (!layer.hasWeight) return entry;
    entry.weight.bits =
        weightBits(own.weightBits.value_or(config.quantization.weight.bits), layer, node.name, said);
    const bool perChannel = own.weightPerChannel.value_or(config.quantization.weight.perChannel);
    entry.weight.channelWise = perChannel && layer.perChannel;
    const bool asksForIt = own.weightPerChannel || config.quantization.weight.perChannelProducts;
    if (perChannel && !layer.perChannel && asksForIt)
        said[fmt::format("AMCT has no per-channel weights in {}, so they become per tensor", node.op)]
            .push_back(node.name);
    return entry;
}

/// `minimal`: only the keys that AMCT's oldest tools support, without bit widths and hfmg.
std::string entryJson(const Entry& entry, bool minimal) {
    const AmctActivation& a = entry.activation;
    std::string text =
        fmt::format("    {}:{{\n        \"quant_enable\":{},\n        \"activation_quant_params\":{{\n",
                    jsonQuoted(entry.name), word(entry.enabled));
    if (!minimal) text += fmt::format("            \"num_bits\":{},\n", a.bits);
    if (a.hfmg && !minimal)
        text += fmt::format(
            "            \"act_algo\":\"hfmg\",\n            \"asymmetric\":{},\n            "
            "\"num_of_bins\":{}\n",
            word(*a.asymmetric), a.numOfBins);
    else
        text += fmt::format(R"(            "max_percentile":{},
            "min_percentile":{},
            "search_range":[{},{}],
            "search_step":{},
            "act_algo":"ifmr",
            "asymmetric":{}
)",
                            pythonFloat(a.maxPercentile), pythonFloat(a.minPercentile),
                            pythonFloat(a.searchRange[0]), pythonFloat(a.searchRange[1]),
                            pythonFloat(a.searchStep), word(*a.asymmetric));
    text += "        },\n        \"weight_quant_params\":{\n";
    if (!minimal) text += fmt::format("            \"num_bits\":{},\n", entry.weight.bits);
    const bool learned = entry.weight.algorithm == AmctWeightAlgorithm::Ada && !minimal;
    return text + fmt::format(
                      "            \"channel_wise\":{},\n            \"wts_algo\":\"{}\"\n        }}\n    }}",
                      word(entry.weight.channelWise), learned ? "ada_quantize" : "arq_quantize");
}

/// Returns the convolutions that keep their batch norm. The name of a batch norm means the convolution before
/// it.
std::vector<std::string> skippedFusions(const Graph& graph, const TransformOptions& transforms,
                                        std::vector<std::string>& notices) {
    std::set<std::string> names;
    for (const std::string& name : transforms.skipFolding) {
        auto id = graph.findNode(name);
        if (id && graph.node(*id).op == "BatchNormalization" && graph.node(*id).input(0).valid()) {
            const NodeId before = graph.tensor(graph.node(*id).input(0)).producer;
            if (before.valid()) id = before;
        }
        if (id && graph.node(*id).op == "Conv")
            names.insert(graph.node(*id).name);
        else
            notices.push_back(fmt::format(
                "'{}' in skip_folding is not a Conv; AMCT's skip_fusion_layers accepts only Conv layers",
                name));
    }
    return {names.begin(), names.end()};
}

std::string document(const QuantizationConfig& config, const std::vector<std::string>& unfused,
                     const std::vector<Entry>& entries, std::int64_t batches, bool minimal) {
    std::vector<std::string> names, parts;
    for (const std::string& name : unfused) names.push_back(jsonQuoted(name));
    for (const Entry& entry : entries) parts.push_back(entryJson(entry, minimal));
    std::string text = "{\n    \"version\":1,\n";
    if (!minimal) text += fmt::format("    \"batch_num\":{},\n", batches);
    text += fmt::format("    \"activation_offset\":{},\n", word(!config.quantization.activation.symmetric));
    if (!minimal) text += "    \"joint_quant\":false,\n";
    return text + fmt::format("    \"do_fusion\":{},\n    \"skip_fusion_layers\":[{}],\n{}\n}}\n",
                              word(config.transforms.foldBatchNorm), fmt::join(names, ","),
                              fmt::join(parts, ",\n"));
}

/// Returns the number of batches that gives as many samples as the preview calibrates on, and adds notices
/// about it.
std::int64_t batchNumber(const Graph& graph, const QuantizationConfig& config,
                         std::vector<std::string>& notices) {
    constexpr std::int64_t kRecommended = 50;  // images, in AMCT's documentation
    const std::int64_t samples = config.calibration.samples;
    const auto size = amctBatchSize(graph);
    if (!size) {
        notices.push_back(fmt::format(
            "batch_num is 1, because the model has no fixed batch size: calibrate AMCT with one batch of all "
            "calibration samples (at most {}, calibration.samples), or set batch_num to their number divided "
            "by your batch size",
            samples));
        return 1;
    }
    const std::int64_t batches = (samples + *size - 1) / *size;
    if (batches * *size > kRecommended)
        notices.push_back(fmt::format(
            "batch_num {} gives {} samples (calibration.samples is {}); AMCT keeps the activations of all "
            "these samples in memory, and its documentation recommends at most {}",
            batches, batches * *size, samples, kRecommended));
    return batches;
}

/// Adds notices about settings that the minimal format has no keys for.
void noteMinimal(const std::vector<Entry>& entries, std::vector<std::string>& notices) {
    std::vector<std::string> weights, activations, hfmg;
    for (const Entry& entry : entries) {
        if (!entry.enabled) continue;
        if (entry.weight.bits != 8) weights.push_back(entry.name);
        if (entry.activation.bits != 8) activations.push_back(entry.name);
        if (entry.activation.hfmg) hfmg.push_back(entry.name);
    }
    if (!weights.empty())
        notices.push_back(
            fmt::format("this format has no num_bits, so all weights have 8 bits: {}", shortList(weights)));
    if (!activations.empty())
        notices.push_back(fmt::format("this format has no num_bits, so all activations have 8 bits: {}",
                                      shortList(activations)));
    if (!hfmg.empty())
        notices.push_back(
            fmt::format("this format has no hfmg, so these layers get ifmr: {}", shortList(hfmg)));
}

void noteScheme(const QuantizationConfig& config, std::vector<std::string>& notices) {
    const CalibrationMethod method = config.calibration.method;
    if (method != CalibrationMethod::Ifmr && method != CalibrationMethod::Hfmg)
        notices.push_back(fmt::format(
            "AMCT calibrates activations with ifmr, while the preview used {}: scales will differ",
            choiceName(kCalibrationMethods, method)));
    std::vector<std::string> others;
    for (const auto& [name, own] : config.layers)
        if (own.calibrationMethod && *own.calibrationMethod != CalibrationMethod::Ifmr &&
            *own.calibrationMethod != CalibrationMethod::Hfmg)
            others.push_back(name);
    if (!others.empty())
        notices.push_back(
            fmt::format("AMCT calibrates activations with ifmr, while the preview used another method for "
                        "single layers: {}",
                        shortList(others)));
    if (config.quantization.placement != Placement::WeightedInputs)
        notices.push_back(
            "AMCT quantizes only the inputs and weights of the listed layers, while the preview also "
            "quantizes layer outputs; set quantization.placement to weighted_inputs to preview AMCT's "
            "behavior");
    if (config.quantization.weight.restricted)
        notices.push_back(
            "AMCT's weights also use the lowest code (-128 with 8 bits), while the preview's weights are "
            "restricted");
    if (!config.quantization.activation.isSigned)
        notices.emplace_back(
            "AMCT's activations are signed; it has no key for the preview's unsigned activations");
    QuantizationConfig amct = presetConfig("amct-default");
    // Here, only settings of single layers are compared.
    amct.quantization.weight.restricted = config.quantization.weight.restricted;
    amct.quantization.activation.isSigned = config.quantization.activation.isSigned;
    for (std::string& text : settingNotices(
             config, amct, "AMCT",
             {"quantization.weight.restricted", "quantization.activation.signed", "quantization.bias_bits",
              "quantization.activation.power_of_two", "quantization.weight.signed",
              "quantization.weight.symmetric", "quantization.weight.power_of_two",
              "quantization.weight.method", "quantization.npu_positions.", "calibration.quantized_weights"}))
        notices.push_back(std::move(text));
}

enum class Form { Full, Minimal, Simple };

ExportResult writeFormat(const ExportSource& source, Form form) {
    const Graph& graph = *source.prepared->source;
    const QuantizationConfig& config = source.config;
    ExportResult result;
    std::vector<Entry> entries;
    Groups groups;  // notice to layers
    // operator to its number of quantized layers that AMCT does not quantize
    std::map<std::string, std::size_t> absent;
    std::vector<std::string> unsupportedHere;  // layers that AMCT supports but the preview does not
    std::size_t enabled = 0;
    for (const LayerResult& layer : source.layers) {
        if (!layer.node.valid() || layer.node.index() >= graph.nodeCount())
            fail(ErrorKind::Internal, "layer '{}' is not of this model", layer.name);
        const Node& node = graph.node(layer.node);
        const bool quantized = layer.state == LayerState::Quantized;
        if (layer.state == LayerState::Folded && node.op == "BatchNormalization") {
            const auto host = graph.findNode(layer.host);
            if (host && !graph.node(*host).op.starts_with("Conv"))
                groups
                    ["AMCT folds batch norms only into convolutions; for other layers, pass it the model "
                     "that 'quantloupe-cli transform' writes"]
                        .push_back(node.name);
        }
        const AmctVerdict verdict = amctVerdict(graph, node);
        if (!verdict.layer) {
            if (quantized && verdict.reason.empty()) ++absent[node.op];
            if (quantized && !verdict.reason.empty())
                groups[fmt::format("AMCT leaves this {} in float, because {}", node.op, verdict.reason)]
                    .push_back(node.name);
            continue;
        }
        if (isAmctKey(node.name))
            failInput(
                "the layer '{}' has the same name as a key of AMCT's configuration; rename it in the model",
                node.name);
        entries.push_back(makeEntry(graph, node, *verdict.layer, config, quantized, groups));
        if (quantized) ++enabled;
        if (layer.state == LayerState::Float) unsupportedHere.push_back(node.name);
    }
    if (enabled == 0)
        failInput(
            "none of the layers that AMCT can quantize is quantized, and AMCT rejects such a configuration: "
            "remove a skip, or see in the layer table why they stay in float (AMCT supports Conv, "
            "ConvTranspose, Gemm, MatMul with a constant matrix and AveragePool)");
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });

    noteScheme(config, result.notices);
    append(result.notices, ruleNotices(source, "AMCT"));
    ExportSource corrected = source;
    corrected.config.refine.rounding = Rounding::Nearest;  // ada_quantize also learns the rounding
    append(result.notices, roundingNotices(corrected.config, "AMCT"));
    append(result.notices, refinementNotices(corrected, "AMCT"));
    for (const auto& [op, count] : absent)
        result.notices.push_back(
            fmt::format("AMCT does not quantize {}: {} left out", op,
                        count == 1 ? "1 layer is" : fmt::format("{} layers are", count)));
    if (!unsupportedHere.empty())
        result.notices.push_back(
            fmt::format("AMCT could quantize these layers, but the preview cannot, so they are disabled: {}",
                        shortList(unsupportedHere)));
    for (const auto& [words, names] : groups)
        result.notices.push_back(fmt::format("{}: {}", words, shortList(names)));
    append(result.notices, missingTransformNotices(config, "AMCT"));
    const std::vector<std::string> unfused = skippedFusions(graph, config.transforms, result.notices);
    const bool minimal = form == Form::Minimal;
    if (minimal) noteMinimal(entries, result.notices);
    const std::int64_t batches = minimal ? 1 : batchNumber(graph, config, result.notices);
    const std::string text = form == Form::Simple ? amctSimpleText(graph, config, unfused, entries, batches)
                                                  : document(config, unfused, entries, batches, minimal);
    result.files.push_back({"", text, nullptr, false});
    return result;
}

}  // namespace

ExportResult writeAmct(const ExportSource& source) { return writeFormat(source, Form::Full); }
ExportResult writeAmctMinimal(const ExportSource& source) { return writeFormat(source, Form::Minimal); }
ExportResult writeAmctSimple(const ExportSource& source) { return writeFormat(source, Form::Simple); }

}  // namespace quantloupe
