// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which nodes lie before, behind and between. All O(nodes + edges).

#include <span>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// One flag a node.
using NodeSet = std::vector<bool>;

/// The nodes themselves and all that data flows to from them.
NodeSet downstreamOf(const Graph& graph, std::span<const NodeId> from);
/// The nodes themselves and all whose data flows into them.
NodeSet upstreamOf(const Graph& graph, std::span<const NodeId> to);
/// All nodes on any directed path, both ends included; empty where there is no path.
NodeSet between(const Graph& graph, NodeId from, NodeId to);
/// The tail: from every graph output upstream to the last weighted node (Conv, ConvTranspose, Gemm or MatMul with
/// a constant operand), which is included. Empty where a walk meets no weighted node.
NodeSet tailOf(const Graph& graph);

}  // namespace quantloupe
