// SPDX-License-Identifier: Apache-2.0
#pragma once
// A junction: where layers meet that equalization scales with one vector of factors.

#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct Junction {
    /// Layers whose output channels and biases are divided by the factors, and those whose input channels are
    /// multiplied, in graph order.
    std::vector<NodeId> heads, tails;
    /// All tensors between them: divided by the factors along axis 1.
    std::vector<TensorId> tensors;
    std::vector<float> factors;  ///< all 1 where the junction is switched off
    /// The largest |w| of each channel over the heads and over the tails, before and after equalization.
    std::vector<float> headsBefore, tailsBefore, headsAfter, tailsAfter;
    bool enabled = true;
};

/// Fills the ranges from the weights of both graphs, whose node ids are the same.
void fillRanges(Junction& junction, const Graph& before, const Graph& after);

/// The junction between two layers of which the second alone reads what comes from the first.
Junction chainJunction(const Graph& graph, NodeId head, NodeId tail);

}  // namespace quantloupe
