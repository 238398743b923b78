// SPDX-License-Identifier: Apache-2.0
#include "transform/own_inputs.h"

#include <algorithm>

#include "model/graph_builder.h"
#include "model/operator_traits.h"
#include "transform/adopt_built.h"

namespace quantloupe {
namespace {

bool readsQuantized(const Graph& graph, const Node& node) {
    if (!node.input(0).valid() || graph.constantOf(node.input(0)) != nullptr) return false;
    if (isOp(node, "AveragePool")) return true;
    return multipliesWeight(node) && graph.constantOf(node.input(1)) != nullptr;
}

}  // namespace

TensorId sharedTensor(const Prepared& prepared, TensorId tensor) {
    const NodeId maker = prepared.graph->tensor(tensor).producer;
    if (!maker.valid() || !isOp(prepared.graph->node(maker), "Identity") ||
        std::ranges::find(prepared.ownInputs, maker) == prepared.ownInputs.end())
        return tensor;
    return prepared.graph->node(maker).input(0);
}

WithOwnInputs withOwnInputs(Prepared prepared, const std::vector<OwnInput>& inputs) {
    const Graph& graph = *prepared.graph;
    GraphBuilder builder(graph);
    std::vector<NodeId> hosts;
    for (const OwnInput& input : inputs) {
        const TensorInfo& read = graph.tensor(input.tensor);
        const TensorId own = builder.tensor(builder.unusedTensorName(input.name));
        builder.tensorInfo(own).type = read.type;
        builder.tensorInfo(own).shape = read.shape;
        Node identity;
        identity.op = "Identity";
        identity.name = builder.unusedNodeName(input.name);
        identity.inputs = {input.tensor};
        identity.outputs = {own};
        builder.addNode(std::move(identity));
        hosts.push_back(input.readers.front());
        for (const NodeId reader : input.readers) {
            auto& operands = builder.node(reader).inputs;
            std::replace(operands.begin(), operands.end(), input.tensor, own);
        }
    }

    BuiltIds ids;
    GraphPtr built = builder.build(&ids);
    WithOwnInputs result;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        result.identities.push_back(ids.nodes[graph.nodeCount() + i]);
    adoptBuilt(prepared, std::move(built), ids, hosts);
    prepared.ownInputs.insert(prepared.ownInputs.end(), result.identities.begin(), result.identities.end());
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
