// SPDX-License-Identifier: Apache-2.0
#include "interchange/export_precisions.h"

#include "config/precision_rules.h"
#include "interchange/wording.h"
#include "quantize/plan.h"
#include "transform/own_inputs.h"

namespace quantloupe {
namespace {

std::vector<std::string> inFloat16(const std::vector<LayerResult>& layers) {
    std::vector<std::string> names;
    for (const LayerResult& layer : layers)
        if (layer.state == LayerState::Skipped && layer.precision == Precision::float16())
            names.push_back(layer.name);
    return names;
}

/// Returns the quantized layers whose bits differ from those of the network, by precision.
std::map<std::string, std::vector<std::string>> otherBits(const QuantizationConfig& config,
                                                          const std::vector<LayerResult>& layers) {
    std::map<std::string, std::vector<std::string>> names;
    const Precision common = precisionOf(config, {});
    for (const LayerResult& layer : layers)
        if (layer.state == LayerState::Quantized && !passesScale(layer) &&
            (layer.weight ? layer.precision != common
                          : layer.precision.activationBits != common.activationBits))
            names[precisionName(layer.precision)].push_back(layer.name);
    return names;
}

int codesOf(const TensorQuantizer& quantizer) { return quantizer.quantMax - quantizer.quantMin; }

}  // namespace

QuantizationConfig forOtherTools(const Graph& graph, const QuantizationConfig& config) {
    QuantizationConfig resolved = withPrecisionsResolved(graph, config);
    for (auto& [name, settings] : resolved.layers)
        if (settings.precision) settings.quantize = settings.precision->isInteger();
    return resolved;
}

QuantizationConfig withoutConversions(QuantizationConfig resolved) {
    for (auto& [name, settings] : resolved.layers) settings.precision.reset();
    return resolved;
}

std::vector<std::string> precisionNotices(const FileFormat& format, const QuantizationConfig& config,
                                          const std::vector<LayerResult>& layers, std::size_t conversions) {
    std::vector<std::string> notices;
    if (format.precisions == FormatPrecisions::Preview || format.precisions == FormatPrecisions::Own)
        return notices;
    if (const auto halves = inFloat16(layers); !halves.empty())
        notices.push_back(fmt::format("the format {} has no float16 for single layers: {} in float32: {}",
                                      format.title, layersStay(halves.size()), shortList(halves)));
    if (format.precisions == FormatPrecisions::TensorBits && conversions > 0)
        notices.push_back(fmt::format(
            "the format {} has one precision per tensor: {} between precisions {} left out, and layers read "
            "tensors in the precision of the layer that produces them",
            format.title, counted(conversions, "conversion"), conversions == 1 ? "is" : "are"));
    if (format.precisions == FormatPrecisions::None)
        for (const auto& [precision, names] : otherBits(config, layers))
            notices.push_back(fmt::format(
                "the format {} has one precision for all quantized layers: {} with {} {} {}: {}",
                format.title, counted(names.size(), "layer"), precision, names.size() == 1 ? "gets" : "get",
                precisionName(precisionOf(config, {})), shortList(names)));
    return notices;
}

std::map<TensorId, TensorQuantizer> sharedQuantizers(const Plan& plan) {
    const Graph& graph = *plan.prepared->graph;
    std::map<TensorId, TensorQuantizer> shared;
    for (const auto& [tensor, quantizer] : plan.tensors)
        if (!quantizer.half && sharedTensor(*plan.prepared, tensor) == tensor)
            shared.emplace(tensor, quantizer);
    std::map<TensorId, TensorQuantizer> widest;
    for (const NodeId ownInput : plan.prepared->ownInputs) {
        const Node& node = graph.node(ownInput);
        const auto found = plan.tensors.find(node.output());
        if (found == plan.tensors.end() || found->second.half || shared.contains(node.input(0))) continue;
        const auto [known, isNew] = widest.emplace(node.input(0), found->second);
        if (!isNew && codesOf(found->second) > codesOf(known->second)) known->second = found->second;
    }
    shared.merge(widest);
    return shared;
}

int widthOf(const TensorQuantizer& quantizer) {
    int bits = 1;
    while ((1L << bits) - 1 < static_cast<long>(quantizer.quantMax) - quantizer.quantMin) ++bits;
    return bits;
}

std::map<TensorId, const LayerSettings*> settingsByOutput(const QuantizationConfig& config,
                                                          const Prepared& prepared, const UnitList& units) {
    const std::vector<std::size_t> owners = scaleOwners(units);
    std::map<TensorId, const LayerSettings*> settings;
    for (std::size_t u = 0; u < units.units.size(); ++u) {
        const NodeId layer = prepared.sourceOf.at(units.units[owners[u]].layer.index());
        const LayerSettings* const own = config.settingsOf(prepared.source->node(layer).name);
        if (prepared.placement == Placement::InputsAndOutputs)
            settings[units.units[u].output] = own;
        else if (units.units[u].quantized)
            for (const TensorId input : units.units[u].inputs)
                settings.emplace(sharedTensor(prepared, input), own);
    }
    return settings;
}

}  // namespace quantloupe
