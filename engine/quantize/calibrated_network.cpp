// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibrated_network.h"

#include "base/error.h"
#include "model/graph_builder.h"
#include "quantize/plan.h"

namespace quantloupe {
namespace {

class NetworkChanger {
  public:
    NetworkChanger(const Prepared& prepared, const QuantizationConfig& config)
        : m_prepared(prepared), m_config(config), m_graph(*prepared.graph), m_builder(m_graph) {}

    void quantizeWeights(const UnitList& units, QuantizerCache& cache) {
        for (const Unit& unit : units.units) {
            if (!unit.quantized || !unit.weight.valid()) continue;
            try {
                m_builder.setConstant(unit.weight,
                                      quantizedWeight(m_prepared, unit, m_config, cache)->dequantized);
            } catch (Error& error) {
                error.addContext(fmt::format("layer '{}'", m_graph.node(unit.layer).name));
                throw;
            }
            m_changed = true;
        }
    }

    void undoNpuOperators() {
        for (std::size_t n = 0; n < m_graph.nodeCount(); ++n) {
            const NodeId id(n);
            const Node& node = m_graph.node(id);
            const Node& source = m_prepared.source->node(m_prepared.sourceOf[n]);
            if (!node.domain.empty() || !source.domain.empty()) continue;
            if (node.op == "LeakyRelu" && source.op == "LeakyRelu") {
                const float alpha = source.attributes.real("alpha", 0.01f);
                if (node.attributes.real("alpha", 0.01f) == alpha) continue;
                m_builder.node(id).attributes.set("alpha", alpha);
                m_changed = true;
            } else if (node.op == "HardSigmoid" && source.op == "Sigmoid") {
                m_builder.node(id).op = "Sigmoid";
                m_builder.node(id).attributes = source.attributes;
                m_changed = true;
            } else if (node.op == "Mul" && source.op != "Mul" &&
                       followsItsLayer(node, m_prepared.sourceOf[n])) {
                m_builder.setConstant(node.input(1), Constant::fromFloats({}, {1.0f}));
                m_changed = true;
            }
        }
    }

    std::optional<Prepared> finish() {
        if (!m_changed) return std::nullopt;
        Prepared changed = m_prepared;
        BuiltIds ids;
        changed.graph = m_builder.build(&ids);
        for (std::size_t t = 0; t < ids.tensors.size(); ++t)
            if (ids.tensors[t] != TensorId(t))
                fail(ErrorKind::Internal, "tensor ids changed while the calibrated network was built");
        changed.version = VersionBuilder().add(m_prepared.version).add(changed.graph->version()).finish();
        return changed;
    }

  private:
    /// Returns whether the node is a factor that was inserted after a layer (transform/npu_operators.h).
    bool followsItsLayer(const Node& node, NodeId source) const {
        const Constant* factor = node.inputs.size() == 2 ? m_graph.constantOf(node.input(1)) : nullptr;
        const NodeId maker = m_graph.tensor(node.input(0)).producer;
        return factor != nullptr && factor->size() == 1 && maker.valid() &&
               m_prepared.sourceOf[maker.index()] == source;
    }

    const Prepared& m_prepared;
    const QuantizationConfig& m_config;
    const Graph& m_graph;
    GraphBuilder m_builder;
    bool m_changed = false;
};

}  // namespace

std::optional<Prepared> calibratedNetwork(const Prepared& prepared, const UnitList& units,
                                          const QuantizationConfig& config, QuantizerCache& cache) {
    const NpuOperators& npu = config.transforms.npuOperators;
    const bool npuOperators = npu.averagePool || npu.leakyRelu || npu.sigmoid;
    if (!config.calibration.quantizedWeights && !npuOperators) return std::nullopt;
    NetworkChanger changer(prepared, config);
    if (config.calibration.quantizedWeights) changer.quantizeWeights(units, cache);
    if (npuOperators) changer.undoNpuOperators();
    return changer.finish();
}

}  // namespace quantloupe
