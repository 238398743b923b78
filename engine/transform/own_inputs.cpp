// SPDX-License-Identifier: Apache-2.0
#include "transform/own_inputs.h"

#include "model/graph_builder.h"
#include "model/operator_traits.h"
#include "transform/weight_layout.h"

namespace quantloupe {
namespace {

bool readsQuantized(const Graph& graph, const Node& node) {
    if (!node.input(0).valid() || graph.constantOf(node.input(0)) != nullptr) return false;
    if (isOp(node, "AveragePool")) return true;
    return multipliesWeight(node) && graph.constantOf(node.input(1)) != nullptr;
}

}  // namespace

Prepared withOwnInputs(Prepared prepared) {
    const Graph& graph = *prepared.graph;
    GraphBuilder builder(graph);
    std::vector<NodeId> readers;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        if (!readsQuantized(graph, node)) continue;
        const TensorInfo& read = graph.tensor(node.input(0));
        const TensorId own = builder.tensor(builder.unusedTensorName(node.name + "_input"));
        builder.tensorInfo(own).type = read.type;
        builder.tensorInfo(own).shape = read.shape;
        Node identity;
        identity.op = "Identity";
        identity.name = node.name + "_input";
        for (int n = 1; graph.findNode(identity.name); ++n)
            identity.name = fmt::format("{}_input_{}", node.name, n);
        identity.inputs = {node.input(0)};
        identity.outputs = {own};
        builder.addNode(std::move(identity));
        builder.node(NodeId(i)).inputs[0] = own;
        readers.push_back(NodeId(i));
    }

    BuiltIds ids;
    GraphPtr built = builder.build(&ids);
    std::vector<NodeId> sourceOf(built->nodeCount());
    std::vector<OutputStatistics> outputStatistics(built->nodeCount());
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const std::size_t now = ids.nodes[i].index();
        sourceOf[now] = prepared.sourceOf[i];
        outputStatistics[now] = std::move(prepared.outputStatistics[i]);
    }
    for (std::size_t i = 0; i < readers.size(); ++i) {
        const NodeId identity = ids.nodes[graph.nodeCount() + i];
        sourceOf[identity.index()] = prepared.sourceOf[readers[i].index()];
        prepared.ownInputs.push_back(identity);
    }
    for (LayerMapping& mapping : prepared.layerMappings)
        if (mapping.prepared.valid()) mapping.prepared = ids.nodes[mapping.prepared.index()];
    for (EqualizationJunction& junction : prepared.junctions)
        for (TensorId& tensor : junction.tensors) tensor = ids.tensors[tensor.index()];
    prepared.graph = std::move(built);
    prepared.sourceOf = std::move(sourceOf);
    prepared.outputStatistics = std::move(outputStatistics);
    prepared.placement = Placement::WeightedInputs;
    prepared.version = VersionBuilder().add(prepared.version).add(prepared.placement).finish();
    return prepared;
}

}  // namespace quantloupe
