// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replaces the prepared graph after nodes were inserted into it.

#include <span>

#include "model/graph_builder.h"
#include "transform/prepare.h"

namespace quantloupe {

/// `built` was built from prepared.graph, with nodes added at the end of the builder. Replaces the graph, and
/// moves everything in `prepared` that refers to its nodes and tensors. `hosts`: for each added node, the
/// node of the former graph to whose layer it belongs.
void adoptBuilt(Prepared& prepared, GraphPtr built, const BuiltIds& ids, std::span<const NodeId> hosts);

}  // namespace quantloupe
