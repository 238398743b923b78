// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the layers that cross-layer equalization can scale together.

#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// Two layers, or three of which the second is depthwise, each the only reader of the one before it, with
/// nothing but Relu or PRelu between.
struct LayerSet {
    std::vector<NodeId> layers;           ///< in data order
    std::vector<bool> activationBetween;  ///< one a junction
};

/// The sets of the graph in the order in which they are to be scaled: by the chain's first layer, then along
/// the chain. Sets overlap: the last layer of one is often the first of the next. Appends to `notices` what
/// was left out although it has the right form (shared weights, a graph output between). Layers with
/// `excluded` (one a node; empty: none) take no part.
std::vector<LayerSet> findEqualizationSets(const Graph& graph, std::vector<std::string>& notices,
                                           const std::vector<bool>& excluded = {});

}  // namespace quantloupe
