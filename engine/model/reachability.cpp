// SPDX-License-Identifier: Apache-2.0
#include "model/reachability.h"

#include "model/moved_constants.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

/// Nodes are topologically sorted, so one sweep forward or backward is enough.
void spreadDown(const Graph& graph, NodeSet& set) {
    for (std::size_t n = 0; n < graph.nodeCount(); ++n) {
        if (!set[n]) continue;
        for (const TensorId out : graph.nodes()[n].outputs)
            if (out.valid())
                for (const NodeId reader : graph.tensor(out).consumers) set[reader.index()] = true;
    }
}

void spreadUp(const Graph& graph, NodeSet& set) {
    for (std::size_t n = graph.nodeCount(); n-- > 0;) {
        if (!set[n]) continue;
        for (const TensorId in : graph.nodes()[n].inputs)
            if (in.valid() && graph.tensor(in).producer.valid())
                set[graph.tensor(in).producer.index()] = true;
    }
}

NodeSet setOf(const Graph& graph, std::span<const NodeId> nodes) {
    NodeSet set(graph.nodeCount(), false);
    for (const NodeId node : nodes) set[node.index()] = true;
    return set;
}

bool isWeighted(const Graph& graph, const Node& node) {
    return multipliesWeight(node) &&
           (resolveConstant(graph, node.input(1)) != nullptr ||
            (node.op == "MatMul" && resolveConstant(graph, node.input(0)) != nullptr));
}

}  // namespace

NodeSet downstreamOf(const Graph& graph, std::span<const NodeId> from) {
    NodeSet set = setOf(graph, from);
    spreadDown(graph, set);
    return set;
}

NodeSet upstreamOf(const Graph& graph, std::span<const NodeId> to) {
    NodeSet set = setOf(graph, to);
    spreadUp(graph, set);
    return set;
}

NodeSet between(const Graph& graph, NodeId from, NodeId to) {
    NodeSet down = downstreamOf(graph, std::span(&from, 1));
    const NodeSet up = upstreamOf(graph, std::span(&to, 1));
    for (std::size_t n = 0; n < down.size(); ++n) down[n] = down[n] && up[n];
    return down;
}

NodeSet tailOf(const Graph& graph) {
    NodeSet set(graph.nodeCount(), false);
    std::vector<NodeId> walk;
    for (const TensorId out : graph.outputs())
        if (graph.tensor(out).producer.valid()) walk.push_back(graph.tensor(out).producer);
    bool metWeighted = false;
    while (!walk.empty()) {
        const NodeId id = walk.back();
        walk.pop_back();
        if (set[id.index()]) continue;
        set[id.index()] = true;
        const Node& node = graph.node(id);
        if (isWeighted(graph, node)) {
            metWeighted = true;
            continue;
        }
        for (const TensorId in : node.inputs)
            if (in.valid() && graph.tensor(in).producer.valid()) walk.push_back(graph.tensor(in).producer);
    }
    if (!metWeighted) set.assign(graph.nodeCount(), false);
    return set;
}

}  // namespace quantloupe
