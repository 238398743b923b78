// SPDX-License-Identifier: Apache-2.0
#include "transform/junction.h"

namespace quantloupe {
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
