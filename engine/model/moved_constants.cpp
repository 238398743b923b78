// SPDX-License-Identifier: Apache-2.0
#include "model/moved_constants.h"

#include <algorithm>

#include "base/is_one_of.h"
#include "model/operator_traits.h"

namespace quantloupe {

bool isMove(const Node& node) {
    return node.domain.empty() && (onlyRearranges(node.op) || node.op == "Identity" || node.op == "Cast");
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

std::vector<const Constant*> rootConstants(const Graph& graph, TensorId tensor) {
    constexpr std::size_t kMostTensors = 256;
    std::vector<const Constant*> roots;
    std::vector<TensorId> tensors{tensor};  // also those that have been visited
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        if (const Constant* constant = graph.constantOf(tensors[t])) {
            if (!std::ranges::count(roots, constant)) roots.push_back(constant);
            continue;
        }
        const NodeId producer = tensors[t].valid() ? graph.tensor(tensors[t]).producer : NodeId();
        if (!producer.valid()) return {};
        const Node& node = graph.node(producer);
        if (!isMove(node) && !assemblesWeights(graph, node)) return {};
        const bool joins = isOp(node, "Concat");
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const TensorId input = node.inputs[i];
            if (i > 0 && !joins) {  // axes, sizes
                if (input.valid() && graph.constantOf(input) == nullptr) return {};
            } else if (!std::ranges::count(tensors, input)) {
                tensors.push_back(input);
            }
        }
        if (tensors.size() > kMostTensors) return {};
    }
    return roots;
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
