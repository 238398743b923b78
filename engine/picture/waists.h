// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows in which the drawing is one box wide.

#include <vector>

#include "picture/piece.h"

namespace quantloupe {

/// Returns the rows, ascending, that contain only one node and that no edge passes. All paths from above to
/// below go through this node, so both parts can be laid out separately. O(nodes + edges).
std::vector<int> findWaists(const std::vector<int>& ranks, const std::vector<PieceEdge>& edges);

}  // namespace quantloupe
