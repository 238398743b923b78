// SPDX-License-Identifier: Apache-2.0
#pragma once
// Long edges, drawn beside everything else.

#include "picture/strip_layout.h"

namespace quantloupe {

/// Fills in layout.lines of the edges in `longEdges`: out through the gap below `from`, down a lane left or
/// right of all boxes and lines on the way, in through the gap above `to`. Edges of one node share a lane;
/// lanes that run beside each other do not touch, short ones are inside. O(rows passed), a lane.
void routeInSideLanes(const Strip& strip, const std::vector<std::size_t>& longEdges, double boxWidth,
                      double boxHeight, PieceLayout& layout);

}  // namespace quantloupe
