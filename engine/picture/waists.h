// SPDX-License-Identifier: Apache-2.0
#pragma once
// Places where the drawing is one box wide.

#include <vector>

#include "picture/piece.h"

namespace quantloupe {

/// The rows that hold one node and that no edge passes, ascending: everything above such a node reaches
/// everything below through it alone, so the parts above and below can be laid out one by one. O(nodes +
/// edges).
std::vector<int> findWaists(const std::vector<int>& ranks, const std::vector<PieceEdge>& edges);

}  // namespace quantloupe
