// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shape arithmetic: Shape, and what is computed from nothing else.

#include "picture/groups.h"

namespace quantloupe {

/// Parts of the network of two layers or more that only compute on shapes (Shape -> Gather -> Concat -> ...), as groups with
/// `shape` set and without parents, kinds and counts. Each can become one box without closing a circle. O(nodes + edges).
std::vector<Group> findShapeGroups(const Graph& graph);

}  // namespace quantloupe
