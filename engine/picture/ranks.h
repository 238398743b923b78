// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of the drawing: which box stands how far down.

#include <cstddef>
#include <vector>

#include "picture/piece.h"

namespace quantloupe {

/// The row of each of `count` nodes: every edge (from < to, any order) leads to a higher row. Longest path
/// from the sources, then nodes that have no more inputs than outputs move down next to their first consumer,
/// so that a mask or a constant's helper is drawn where it is used. O(nodes + edges).
std::vector<int> computeRanks(std::size_t count, const std::vector<PieceEdge>& edges);

}  // namespace quantloupe
