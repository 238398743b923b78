// SPDX-License-Identifier: Apache-2.0
#pragma once
// A junction: the layers and tensors that equalization scales with one vector of factors.

#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct Junction {
    /// Heads: layers whose output channels and biases are divided by the factors. Tails: layers whose input
    /// channels are multiplied by them. Both in graph order.
    std::vector<NodeId> heads, tails;
    /// All tensors between them; divided by the factors along axis 1.
    std::vector<TensorId> tensors;
    std::vector<float> factors;  ///< all 1 if the junction is disabled
    bool enabled = true;
};

/// The junction between two layers, of which the second is the only reader of the first's output.
Junction chainJunction(const Graph& graph, NodeId head, NodeId tail);

}  // namespace quantloupe
