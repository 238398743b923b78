// SPDX-License-Identifier: Apache-2.0
#include "model/moved_constants.h"

#include "base/is_one_of.h"

namespace quantloupe {

bool isMove(const Node& node) {
    return node.domain.empty() &&
           isOneOf(node.op, {"Identity", "Transpose", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten"});
}

bool assemblesWeights(const Graph& graph, const Node& node) {
    return isOneOf(node.op, {"Slice", "Split", "Concat"}) && node.domain.empty() && node.output().valid() &&
           graph.tensor(node.output()).type == DataType::Float32;
}

const Constant* resolveConstant(const Graph& graph, TensorId tensor) {
    while (tensor.valid() && graph.constantOf(tensor) == nullptr) {
        const NodeId producer = graph.tensor(tensor).producer;
        if (!producer.valid() || !isMove(graph.node(producer))) return nullptr;
        const auto& inputs = graph.node(producer).inputs;
        for (std::size_t i = 1; i < inputs.size(); ++i)
            if (inputs[i].valid() && graph.constantOf(inputs[i]) == nullptr) return nullptr;
        tensor = graph.node(producer).input(0);
    }
    return graph.constantOf(tensor);
}

std::size_t foldConstantIdentities(GraphBuilder& builder) {
    std::size_t folded = 0;
    // The nodes of a file are in topological order, so one pass also follows chains of Identity nodes.
    for (std::size_t n = 0; n < builder.nodeCount(); ++n) {
        const Node& node = builder.node(NodeId(n));
        if (node.op != "Identity" || !node.domain.empty() || !node.input(0).valid() || !node.output().valid())
            continue;
        const ConstantPtr value = builder.tensorInfo(node.input(0)).constant;
        const TensorInfo& output = builder.tensorInfo(node.output());
        if (!value || output.graphOutput || output.graphInput || output.constant) continue;
        builder.setConstant(node.output(), value);
        builder.removeNode(NodeId(n));
        ++folded;
    }
    return folded;
}

}  // namespace quantloupe
