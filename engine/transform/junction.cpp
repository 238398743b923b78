// SPDX-License-Identifier: Apache-2.0
#include "transform/junction.h"

#include <algorithm>

#include "transform/scalable_layer.h"

namespace quantloupe {
namespace {

std::vector<float> rangesOf(const Graph& graph, const std::vector<NodeId>& layers, bool outputs) {
    std::vector<float> ranges;
    for (const NodeId id : layers) {
        const auto layout = layoutOf(graph, id);
        const auto weight = graph.constantOf(graph.node(id).input(1))->floats();
        const auto largest = outputs ? outputRanges(weight, *layout) : inputRanges(weight, *layout);
        if (ranges.empty()) ranges.assign(largest.size(), 0.0f);
        for (std::size_t c = 0; c < ranges.size(); ++c) ranges[c] = std::max(ranges[c], largest[c]);
    }
    return ranges;
}

}  // namespace

void fillRanges(Junction& junction, const Graph& before, const Graph& after) {
    junction.headsBefore = rangesOf(before, junction.heads, true);
    junction.headsAfter = rangesOf(after, junction.heads, true);
    junction.tailsBefore = rangesOf(before, junction.tails, false);
    junction.tailsAfter = rangesOf(after, junction.tails, false);
}

Junction chainJunction(const Graph& graph, NodeId head, NodeId tail) {
    Junction junction;
    junction.heads = {head};
    junction.tails = {tail};
    NodeId node = head;
    while (node.valid() && node != tail) {
        junction.tensors.push_back(graph.node(node).output());
        node = graph.onlyConsumer(junction.tensors.back());
    }
    return junction;
}

}  // namespace quantloupe
