// SPDX-License-Identifier: Apache-2.0
#pragma once
// One piece of the drawing through Graphviz's dot.

#include <optional>

#include "picture/piece.h"

namespace quantloupe {

/// Lays a piece out with libgvc. Empty if dot failed or put a box into another row: use layeredLayout() then.
/// Cost grows faster than work()² in the worst case: keep work() below some 1000 (0.1 to 0.3 s). Any thread;
/// one at a time inside, because libgvc is not re-entrant.
std::optional<PieceLayout> dotLayout(const Piece& piece, double boxWidth, double boxHeight);

}  // namespace quantloupe
