// SPDX-License-Identifier: Apache-2.0
#include "transform/scalable_layer.h"

#include <algorithm>

namespace quantloupe {

bool isFloatConstant(const Graph& graph, TensorId id) {
    const Constant* constant = graph.constantOf(id);
    return constant != nullptr && constant->type() == DataType::Float32;
}

bool isPerChannel(const Constant& constant, std::size_t channels) {
    return static_cast<std::size_t>(constant.size()) == channels &&
           (constant.dims().empty() || constant.dims().back() == constant.size());
}

bool readsAsData(const Node& node, TensorId tensor) {
    return node.input(0) == tensor && std::count(node.inputs.begin(), node.inputs.end(), tensor) == 1;
}

std::optional<WeightLayout> layoutOf(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    const Constant* weight = graph.constantOf(node.input(1));
    return weight == nullptr ? std::nullopt : weightLayout(node, weight->dims());
}

TensorId sharedConstant(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    for (const TensorId input : {node.input(1), node.input(2)}) {
        if (!input.valid()) continue;
        if (graph.onlyConsumer(input) != id || std::count(node.inputs.begin(), node.inputs.end(), input) != 1)
            return input;
    }
    return {};
}

std::string namesOf(const Graph& graph, const std::vector<NodeId>& nodes) {
    std::string text;
    for (const NodeId id : nodes) text += (text.empty() ? "'" : ", '") + graph.node(id).name + "'";
    return text;
}

}  // namespace quantloupe
