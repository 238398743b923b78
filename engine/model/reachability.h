// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the nodes that are upstream, downstream and in between. All functions are O(nodes + edges).

#include <algorithm>
#include <span>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// One flag per node.
using NodeSet = std::vector<bool>;
inline bool any(const NodeSet& set) { return std::find(set.begin(), set.end(), true) != set.end(); }

/// The nodes themselves and all nodes that data flows to from them.
NodeSet downstreamOf(const Graph& graph, std::span<const NodeId> from);
/// The nodes themselves and all nodes whose data flows into them.
NodeSet upstreamOf(const Graph& graph, std::span<const NodeId> to);
/// All nodes on any directed path, including both ends; empty if there is no path.
NodeSet between(const Graph& graph, NodeId from, NodeId to);
/// The tail: from every graph output upstream to the last weighted node (Conv, ConvTranspose, Gemm or MatMul
/// with a constant operand), inclusive. Empty if there is no weighted node upstream of any graph output.
NodeSet tailOf(const Graph& graph);

}  // namespace quantloupe
