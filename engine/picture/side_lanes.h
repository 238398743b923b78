// SPDX-License-Identifier: Apache-2.0
#pragma once
// Routing of long edges next to all boxes.

#include "picture/strip_layout.h"

namespace quantloupe {

/// Sets layout.lines of the edges in `longEdges`: out through the gap below `from`, down a lane left or right
/// of all boxes and lines on the way, and in through the gap above `to`. Edges of one node share a lane;
/// parallel lanes do not touch, and shorter ones are closer to the boxes. O(rows passed) per lane.
void routeInSideLanes(const Strip& strip, const std::vector<std::size_t>& longEdges, double boxWidth,
                      PieceLayout& layout);

}  // namespace quantloupe
