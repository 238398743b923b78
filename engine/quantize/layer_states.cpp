// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <unordered_set>

#include "base/error.h"
#include "config/precision_rules.h"
#include "model/layer_cost.h"
#include "model/layer_names.h"
#include "model/operator_traits.h"
#include "model/quantized_model.h"
#include "quantize/plan.h"
#include "results/layer_host.h"

namespace quantloupe {

std::string_view layerStateName(LayerState state) {
    switch (state) {
        case LayerState::Quantized:
            return "quantized";
        case LayerState::Skipped:
            return "skipped";
        case LayerState::Float:
            return "float";
        case LayerState::Folded:
            return "folded";
        case LayerState::Fused:
            return "fused";
    }
    return "float";
}

std::vector<LayerResult> layerStates(const Prepared& prepared, const UnitList& units,
                                     const SkipDecisions& skips) {
    const Graph& source = *prepared.source;
    std::vector<LayerResult> layers;
    layers.reserve(source.nodeCount());
    std::unordered_set<const Constant*> counted;
    const std::vector<bool> already = quantizationOperators(source) > 0
                                          ? quantizedNodes(source)
                                          : std::vector<bool>(source.nodeCount(), false);
    const LayerCosts costs(source);
    for (std::size_t n = 0; n < source.nodeCount(); ++n) {
        const Node& node = source.nodes()[n];
        const LayerMapping& mapping = prepared.layerMappings[n];
        LayerResult layer;
        layer.node = NodeId(n);
        layer.name = node.name;
        layer.module = moduleOf(node);
        layer.op = node.op;
        const LayerCost cost = costs.of(node);
        layer.macs = cost.macs;
        layer.macsReason = cost.macsReason;
        layer.parameters = cost.parameters;
        for (const Constant* constant : parametersOf(source, node))
            if (counted.insert(constant).second)
                layer.ownParameters += static_cast<std::uint64_t>(constant->size());
        for (const TensorId in : node.inputs)
            layer.io = layer.io || (in.valid() && source.tensor(in).graphInput);
        for (const TensorId out : node.outputs)
            layer.io = layer.io || (out.valid() && source.tensor(out).graphOutput);

        if (!mapping.prepared.valid()) {
            layer.state = LayerState::Folded;
            layer.reason = mapping.note;
            if (mapping.foldedInto.valid()) {
                layer.host = source.node(mapping.foldedInto).name;
                if (layer.reason.empty()) layer.reason = "folded into " + layer.host;
            }
            layers.push_back(std::move(layer));
            continue;
        }
        const std::size_t p = mapping.prepared.index();
        if (!units.unitOf[p]) {
            const bool skipped = skips.skipped(NodeId(n));
            layer.reason = units.reasons[p];
            if (already[n]) {
                layer.state = LayerState::Quantized;
                layer.reason = "quantized in the model itself";
                layers.push_back(std::move(layer));
                continue;
            }
            const TensorId read = prepared.graph->node(mapping.prepared).input(0);
            const NodeId producer = read.valid() ? prepared.graph->tensor(read).producer : NodeId();
            const bool couldFuse =
                isClipping(node) && producer.valid() && units.unitOf[producer.index()].has_value();
            if (skipped && couldFuse) {
                layer.state = LayerState::Skipped;
                layer.reason = skips.reasons[n];
            } else if (skipped) {
                layer.reason += "; " + skips.reasons[n];
            }
        } else {
            const Unit& unit = units.units[*units.unitOf[p]];
            const NodeId host = prepared.sourceOf[unit.layer.index()];
            if (unit.layer != mapping.prepared) {
                layer.state = LayerState::Fused;
                layer.host = source.node(host).name;
                layer.reason = fmt::format("runs inside {}, which {}", layer.host,
                                           unit.quantized ? "is quantized" : "stays in float");
            } else {
                layer.state = unit.quantized ? LayerState::Quantized
                              : unit.skipped ? LayerState::Skipped
                                             : LayerState::Float;
                layer.quantizable = layer.state != LayerState::Float;
                layer.reason = unit.reason;
                if (unit.quantized && unit.kind == UnitKind::PassesScale) layer.reason = kPassesScale;
            }
        }
        if (!mapping.note.empty()) layer.reason += (layer.reason.empty() ? "" : "; ") + mapping.note;
        layers.push_back(std::move(layer));
    }
    return layers;
}

void setPrecisions(const Prepared& prepared, const UnitList& units, const QuantizationConfig& resolved,
                   std::vector<LayerResult>& layers) {
    std::map<TensorId, int> bitsOf = prepared.activationBits;
    for (const Unit& unit : units.units) {
        LayerResult& layer = layers[prepared.sourceOf[unit.layer.index()].index()];
        if (unit.float16) layer.precision = Precision::float16();
        if (!unit.quantized) continue;
        layer.precision = precisionOf(resolved, layer.name);
        int& bits = layer.precision.activationBits;
        const auto own = bitsOf.find(unit.kind == UnitKind::PassesScale ? unit.inputs[0] : unit.output);
        if (followsInput(unit) && own != bitsOf.end()) bits = own->second;
        bitsOf[unit.output] = bits;
        for (const TensorId other : unit.otherOutputs) bitsOf[other] = bits;
    }
    for (LayerResult& layer : layers)
        layer.precision = layers[hostOf(*prepared.source, layers, layer.node.index())].precision;
}

}  // namespace quantloupe
