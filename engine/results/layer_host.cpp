// SPDX-License-Identifier: Apache-2.0
#include "results/layer_host.h"

namespace quantloupe {

std::size_t hostOf(const Graph& graph, const std::vector<LayerResult>& layers, std::size_t node) {
    // The number of steps is limited in case hosts form a cycle.
    for (std::size_t step = 0; step < layers.size(); ++step) {
        const LayerResult& layer = layers[node];
        if (layer.state != LayerState::Folded && layer.state != LayerState::Fused) break;
        // Most hosts are the previous layer, and looking up names in a large graph is slow.
        if (node > 0 && layers[node - 1].name == layer.host) {
            --node;
            continue;
        }
        std::optional<NodeId> host;
        if (!layer.host.empty())
            host = graph.findNode(layer.host);
        else if (const TensorId read = graph.node(layer.node).input(0); read.valid())
            host = graph.tensor(read).producer;
        if (!host || !host->valid()) break;
        node = host->index();
    }
    return node;
}

}  // namespace quantloupe
