// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds all junctions over which a factor a channel can be moved without changing the network's function.

#include <string>
#include <utility>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// Tensors that must all be scaled by the same vector, and who makes and reads them.
struct ScaleGroup {
    std::vector<NodeId> heads, tails;  ///< layers, in graph order; a layer can be both
    /// Constants that are added to the group's tensors, as node and input: divided by the factors, too.
    std::vector<std::pair<NodeId, std::size_t>> shifts;
    std::vector<TensorId> tensors;
    std::size_t channels = 0;
    bool activation = false;  ///< a Relu or one of its kin is between
    /// One head, one tail of one group or depthwise, and between them nothing but activations.
    bool plain = false;
};

struct ScaleGroups {
    std::vector<ScaleGroup> groups;  ///< by the first tensor's producer
    /// Layers that are not to be equalized although they follow on each other: "'a' and 'b': 'c' clips at 0 and 6".
    std::vector<std::string> refusals;
};

/// Layers: Conv and ConvTranspose of any groups and rank, Gemm, MatMul, with float32 constants that nothing else reads.
/// Layers with `excluded` (one a node; empty: none) take no part.
ScaleGroups findScaleGroups(const Graph& graph, const std::vector<bool>& excluded);

/// What to say where there are no groups.
std::string whyNothing(const ScaleGroups& found);

}  // namespace quantloupe
