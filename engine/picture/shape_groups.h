// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shape arithmetic: Shape nodes and everything computed only from them.

#include "picture/groups.h"

namespace quantloupe {

/// Returns the parts of the network with two layers or more that only compute shapes (Shape -> Gather ->
/// Concat -> ...), as groups with `shape` set and without parents, kinds and counts. Each can be collapsed
/// without creating a cycle. O(nodes + edges).
std::vector<Group> findShapeGroups(const Graph& graph);

}  // namespace quantloupe
