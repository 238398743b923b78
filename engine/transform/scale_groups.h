// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds all junctions over which a factor per channel can be moved without changing the network's function.

#include <string>
#include <utility>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// Tensors that must all be scaled by the same vector, and their producers and readers.
struct ScaleGroup {
    std::vector<NodeId> heads, tails;  ///< layers, in graph order; a layer can be both
    /// Constants that are added to the group's tensors, as (node, input); they are divided by the factors,
    /// too.
    std::vector<std::pair<NodeId, std::size_t>> shifts;
    std::vector<TensorId> tensors;
    std::size_t channels = 0;
    bool activation = false;  ///< a Relu or similar activation is between
    /// One head and one tail, each with one group or depthwise, and only activations between.
    bool plain = false;
};

struct ScaleGroups {
    std::vector<ScaleGroup> groups;  ///< ordered by the first tensor's producer
    /// Why consecutive layers are not equalized: "'a' and 'b': 'c' clips at 0 and 6".
    std::vector<std::string> refusals;
};

/// Finds the groups. Layers are Conv and ConvTranspose of any groups and rank, Gemm and MatMul, with float32
/// constants that no other node reads, except those with `excluded` (one flag per node; empty: none).
ScaleGroups findScaleGroups(const Graph& graph, const std::vector<bool>& excluded);

/// Returns the message for the case that there are no groups.
std::string whyNoGroups(const ScaleGroups& found);

}  // namespace quantloupe
