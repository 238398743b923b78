// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replaces Clip(0, 6) by Relu, which equalization can pass.

#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"

namespace quantloupe {

/// The Clip(0, 6) nodes that the mode selects, in graph order. `between`: those whose producer and whose only
/// reader are a Conv or ConvTranspose; `all`: every one.
std::vector<NodeId> findRelu6(const Graph& graph, ReplaceRelu6 mode);

/// Returns the graph with these Clips replaced by Relu, under their old names. Node ids do not change. Exact
/// only if no value exceeds 6.
GraphPtr replaceByRelu(const GraphPtr& graph, const std::vector<NodeId>& clips);

/// The number of these Clips whose lower bound is an initializer. AIMET (2.42) recognizes only an attribute
/// or a Constant node, and does not replace them.
std::size_t clipsThatAimetLeaves(const Graph& graph, const std::vector<NodeId>& clips);

}  // namespace quantloupe
