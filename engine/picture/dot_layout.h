// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layout of one piece of the drawing with Graphviz's dot.

#include <filesystem>
#include <optional>

#include "picture/piece.h"

namespace quantloupe {

/// Lays out a piece with libgvc. Empty if dot failed or moved a box to another row; use layeredLayout() then.
/// In the worst case the cost grows faster than work()², so keep work() below about 1000 (0.1 to 0.3 s). May
/// be called from any thread; calls are serialized because libgvc is not reentrant.
std::optional<PieceLayout> dotLayout(const Piece& piece, double boxWidth, double boxHeight);

/// Makes libgvc look for its plugins in the folder instead of where Graphviz was installed. Must be called
/// before the first layout, and while no other thread reads or changes environment variables.
void useGraphvizPlugins(const std::filesystem::path& folder);

}  // namespace quantloupe
