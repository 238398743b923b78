// SPDX-License-Identifier: Apache-2.0
#include "transform/own_inputs.h"

#include <algorithm>
#include <set>

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

WithOwnInputs withOwnInputs(Prepared prepared, const std::vector<OwnInput>& inputs) {
    const Graph& graph = *prepared.graph;
    GraphBuilder builder(graph);
    std::set<std::string> names;
    for (const OwnInput& input : inputs) {
        const TensorInfo& read = graph.tensor(input.tensor);
        const TensorId own = builder.tensor(builder.unusedTensorName(input.name));
        builder.tensorInfo(own).type = read.type;
        builder.tensorInfo(own).shape = read.shape;
        Node identity;
        identity.op = "Identity";
        identity.name = input.name;
        for (int n = 1; graph.findNode(identity.name) || !names.insert(identity.name).second; ++n)
            identity.name = fmt::format("{}_{}", input.name, n);
        identity.inputs = {input.tensor};
        identity.outputs = {own};
        builder.addNode(std::move(identity));
        for (const NodeId reader : input.readers) {
            auto& operands = builder.node(reader).inputs;
            std::replace(operands.begin(), operands.end(), input.tensor, own);
        }
    }

    BuiltIds ids;
    GraphPtr built = builder.build(&ids);
    WithOwnInputs result;
    std::vector<NodeId> sourceOf(built->nodeCount());
    std::vector<OutputStatistics> outputStatistics(built->nodeCount());
    std::vector<std::string> unevaluated(prepared.unevaluated.empty() ? 0 : built->nodeCount());
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const std::size_t now = ids.nodes[i].index();
        sourceOf[now] = prepared.sourceOf[i];
        outputStatistics[now] = std::move(prepared.outputStatistics[i]);
        if (!unevaluated.empty()) unevaluated[now] = std::move(prepared.unevaluated[i]);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const NodeId identity = ids.nodes[graph.nodeCount() + i];
        sourceOf[identity.index()] = prepared.sourceOf[inputs[i].readers.front().index()];
        result.identities.push_back(identity);
    }
    for (NodeId& earlier : prepared.ownInputs) earlier = ids.nodes[earlier.index()];
    prepared.ownInputs.insert(prepared.ownInputs.end(), result.identities.begin(), result.identities.end());
    for (LayerMapping& mapping : prepared.layerMappings)
        if (mapping.prepared.valid()) mapping.prepared = ids.nodes[mapping.prepared.index()];
    for (EqualizationJunction& junction : prepared.junctions)
        for (TensorId& tensor : junction.tensors) tensor = ids.tensors[tensor.index()];
    prepared.graph = std::move(built);
    prepared.sourceOf = std::move(sourceOf);
    prepared.outputStatistics = std::move(outputStatistics);
    prepared.unevaluated = std::move(unevaluated);
    result.prepared = std::move(prepared);
    result.tensors = std::move(ids.tensors);
    return result;
}

Prepared withOwnInputs(Prepared prepared) {
    const Graph& graph = *prepared.graph;
    std::vector<OwnInput> inputs;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        if (readsQuantized(graph, node)) inputs.push_back({node.input(0), {NodeId(i)}, node.name + "_input"});
    }
    prepared = withOwnInputs(std::move(prepared), inputs).prepared;
    prepared.placement = Placement::WeightedInputs;
    prepared.version = VersionBuilder().add(prepared.version).add(prepared.placement).finish();
    return prepared;
}

}  // namespace quantloupe
