// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the layers that cross-layer equalization can scale together.

#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// Two layers, or three with a depthwise layer in the middle. Each is the only reader of the one before it,
/// with nothing but Relu or PRelu between.
struct LayerSet {
    std::vector<NodeId> layers;           ///< in order of data flow
    std::vector<bool> activationBetween;  ///< one per junction
};

/// Finds the sets of the graph in the order in which they are scaled: by the chain's first layer, then along
/// the chain. Sets overlap: the last layer of one is often the first of the next. Appends to `notices` which
/// sets of the right form were left out (shared weights, a graph output between). Layers with `excluded` (one
/// flag per node; empty: none) take no part.
std::vector<LayerSet> findEqualizationSets(const Graph& graph, std::vector<std::string>& notices,
                                           const std::vector<bool>& excluded = {});

}  // namespace quantloupe
