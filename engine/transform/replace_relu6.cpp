// SPDX-License-Identifier: Apache-2.0
// Replaces Clip(0, 6) by Relu. Cost: O(nodes).
//
// Clip(0, 6) is not positively homogeneous, so equalization stops there; MobileNetV2 has two sets with its
// Clips and nineteen with Relu. Both bounds are checked, wherever the opset stores them. Limitation: not
// exact if a pre-activation exceeds 6; the drift of the prepared model against the source shows this.
#include "transform/replace_relu6.h"

#include <algorithm>

#include "model/clip_bounds.h"
#include "model/graph_builder.h"
#include "model/operator_traits.h"
#include "transform/pass_through.h"

namespace quantloupe {

std::vector<NodeId> findRelu6(const Graph& graph, ReplaceRelu6 mode) {
    std::vector<NodeId> found;
    if (mode == ReplaceRelu6::None) return found;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        const auto bounds = clipBounds(graph, node);
        if (!bounds || bounds->low != 0 || bounds->high != 6) continue;
        if (mode == ReplaceRelu6::Between) {
            const NodeId producer = producerBeyondIdentities(graph, node.input(0));
            if (!producer.valid() || !isConvolution(graph.node(producer))) continue;
            const TensorId read = tensorBeyondIdentities(graph, node.output());
            const NodeId reader = graph.onlyConsumer(read);
            if (!reader.valid() || !isConvolution(graph.node(reader))) continue;
            if (graph.node(reader).input(0) != read) continue;
        }
        found.push_back(NodeId(i));
    }
    return found;
}

std::size_t clipsThatAimetLeaves(const Graph& graph, const std::vector<NodeId>& clips) {
    return static_cast<std::size_t>(std::ranges::count_if(clips, [&](NodeId id) {
        const TensorId low = graph.node(id).input(1);
        return low.valid() && !graph.tensor(low).constantNode;
    }));
}

GraphPtr replaceByRelu(const GraphPtr& graph, const std::vector<NodeId>& clips) {
    if (clips.empty()) return graph;
    GraphBuilder builder(*graph);
    for (const NodeId id : clips) {
        Node& node = builder.node(id);
        node.op = "Relu";
        node.inputs.resize(1);
        node.attributes = {};
    }
    return builder.build();
}

}  // namespace quantloupe
