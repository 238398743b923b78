// SPDX-License-Identifier: Apache-2.0
#include "interchange/amct/amct_simple.h"

#include <map>

#include "interchange/text/proto_text.h"
#include "interchange/text/python_text.h"

namespace quantloupe {
namespace {

std::string calibration(const AmctExportEntry& entry, const std::string& margin) {
    const AmctActivation& a = entry.activation;
    const std::string in = margin + "    ";
    std::string text;
    if (entry.hasWeight) {
        const bool learned = entry.weight.algorithm == AmctWeightAlgorithm::Ada;
        text += fmt::format("{0}{1} : {{\n{2}channel_wise : {3}\n{2}quant_bits : {4}\n{0}}}\n", margin,
                            learned ? "ada_quantize" : "arq_quantize", in, entry.weight.channelWise,
                            entry.weight.bits);
    }
    if (a.hfmg)
        text += fmt::format("{0}hfmg_quantize : {{\n{1}num_of_bins : {2}\n", margin, in, a.numOfBins);
    else
        text += fmt::format(
            "{0}ifmr_quantize : {{\n{1}search_range_start : {2}\n{1}search_range_end : {3}\n{1}search_step : "
            "{4}\n"
            "{1}max_percentile : {5}\n{1}min_percentile : {6}\n",
            margin, in, pythonFloat(a.searchRange[0]), pythonFloat(a.searchRange[1]),
            pythonFloat(a.searchStep), pythonFloat(a.maxPercentile), pythonFloat(a.minPercentile));
    return text + fmt::format("{1}asymmetric : {2}\n{1}dst_type : INT{3}\n{0}}}\n", margin, in,
                              a.asymmetric.value_or(true), a.bits);
}

}  // namespace

std::string amctSimpleText(const Graph& graph, const QuantizationConfig& config,
                           const std::vector<std::string>& unfused,
                           const std::vector<AmctExportEntry>& entries, std::int64_t batches) {
    // operator to whether any of its layers is enabled, and their number
    std::map<std::string, std::pair<bool, std::size_t>> types;
    // calibration text to its number of weighted layers
    std::map<std::string, std::size_t> forms;
    for (const AmctExportEntry& entry : entries) {
        auto& [enabled, count] = types[graph.node(*graph.findNode(entry.name)).op];
        enabled = enabled || entry.enabled;
        ++count;
        if (entry.enabled && entry.hasWeight) ++forms[calibration(entry, "    ")];
    }
    std::string text =
        fmt::format("batch_num : {}\nactivation_offset : {}\njoint_quant : false\ndo_fusion : {}\n", batches,
                    !config.quantization.activation.symmetric, config.transforms.foldBatchNorm);
    for (const std::string& name : unfused) text += "skip_fusion_layers : " + protoQuoted(name) + "\n";
    for (const auto& [op, known] : types)
        if (!known.first && known.second > 1) text += "skip_layer_types : " + protoQuoted(op) + "\n";
    for (const AmctExportEntry& entry : entries) {
        const auto& known = types.at(graph.node(*graph.findNode(entry.name)).op);
        if (!entry.enabled && (known.first || known.second == 1))
            text += "skip_layers : " + protoQuoted(entry.name) + "\n";
    }
    std::string common;
    for (const auto& [form, count] : forms)
        if (common.empty() || count > forms.at(common)) common = form;
    if (!common.empty()) text += "common_config : {\n" + common + "}\n";
    for (const AmctExportEntry& entry : entries)
        if (entry.enabled && calibration(entry, "    ") != common)
            text += fmt::format(
                "override_layer_configs : {{\n    layer_name : {}\n    calibration_config : {{\n{}    "
                "}}\n}}\n",
                protoQuoted(entry.name), calibration(entry, "        "));
    return text;
}

}  // namespace quantloupe
