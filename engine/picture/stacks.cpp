// SPDX-License-Identifier: Apache-2.0
#include "picture/stacks.h"

#include "model/operator_traits.h"

namespace quantloupe {
namespace {

/// Whether all inputs but the first are constants or missing.
bool readsOneTensor(const Graph& graph, const Node& node) {
    for (std::size_t i = 1; i < node.inputs.size(); ++i)
        if (node.inputs[i].valid() && graph.constantOf(node.inputs[i]) == nullptr) return false;
    return true;
}

}  // namespace

std::vector<NodeId> findStacks(const Graph& graph, const std::vector<std::size_t>& groupOf) {
    std::vector<NodeId> hosts(graph.nodeCount());
    for (std::size_t n = 0; n < graph.nodeCount(); ++n) {
        const Node& node = graph.node(NodeId(n));
        const bool norm = isOp(node, "BatchNormalization");
        if (!norm && !isClipping(node)) continue;
        const TensorId read = node.input(0);
        const NodeId above = read.valid() ? graph.tensor(read).producer : NodeId();
        if (!above.valid() || graph.onlyConsumer(read) != NodeId(n) || !readsOneTensor(graph, node)) continue;
        if (groupOf[n] != Group::kNone || groupOf[above.index()] != Group::kNone) continue;
        const Node& layer = graph.node(above);
        const bool stacked = hosts[above.index()].valid();  // a batch norm on its layer
        if (norm ? !multipliesWeight(layer) : !canFuseActivation(layer)) continue;
        if (!stacked && isOp(layer, "BatchNormalization")) continue;
        hosts[n] = stacked ? hosts[above.index()] : above;
    }
    return hosts;
}

void placeRows(Picture& picture, double rowHeight) {
    std::vector<double> next(picture.nodes.size(), 0);  // below each box, the top of its next row
    for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
        PictureNode& node = picture.nodes[i];
        next[i] = node.box.bottom();
        if (!node.isRow()) continue;
        const Rect& host = picture.nodes[node.host].box;
        node.box = {host.x, next[node.host], host.width, rowHeight};
        next[node.host] += rowHeight;
    }
    for (PictureEdge& edge : picture.edges) {
        if (!edge.inside) continue;
        const Rect& to = picture.nodes[edge.to].box;
        edge.points = {{to.x + to.width / 2, to.y}, {to.x + to.width / 2, to.y}};
    }
}

}  // namespace quantloupe
