// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assignment of boxes to the rows of the drawing.

#include <cstddef>
#include <vector>

#include "picture/piece.h"

namespace quantloupe {

/// Returns the row of each of `count` nodes such that every edge (from < to, any order) leads to a higher
/// row: the longest path from the sources. Then nodes that do not have more inputs than outputs move down
/// next to their first consumer, so that a mask or a helper of a constant is drawn where it is used. O(nodes
/// + edges).
std::vector<int> computeRanks(std::size_t count, const std::vector<PieceEdge>& edges);

}  // namespace quantloupe
