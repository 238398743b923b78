// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the two layout algorithms take and give: a small graph of equal boxes.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "picture/picture.h"

namespace quantloupe {

struct PieceEdge {
    std::uint32_t from = 0, to = 0;
    auto operator<=>(const PieceEdge&) const = default;
};

/// Part of the drawing between two waists. Nodes are numbered from top to bottom: every edge has from < to.
struct Piece {
    std::vector<int> ranks;        ///< a node; the first row is 0, every edge leads to a higher rank
    std::vector<PieceEdge> edges;  ///< sorted, each pair once
    bool top = false;              ///< node 0 is a waist: alone in the first row
    bool bottom = false;           ///< the last node is one: alone in the last row

    std::size_t size() const { return ranks.size(); }
    /// Equal for pieces that get the same layout (all boxes of a drawing have one size).
    std::string key() const;
    /// Boxes and bends that a layered layout has to place: nodes plus one for each row that an edge passes.
    std::size_t work() const;
};

/// Centres of the boxes and one polyline for each edge. y grows downwards from the first row's upper rim.
struct PieceLayout {
    std::vector<Point> centres;
    std::vector<std::vector<Point>> lines;
};

/// Clear space between the rows of a drawing and between the boxes of a row, in points (dot rounds 0.3 inches
/// to 22).
constexpr double kRowGap = 22;
constexpr double kBoxGap = 18;

/// For each edge, whether it belongs to the trunk, which is drawn straight: the edges that lie on every
/// longest path of the piece, or (`onePath`) those of one of these paths.
std::vector<char> trunkEdges(const Piece& piece, bool onePath = false);

/// The layout of boxes that stand in their ranks' rows at these places. `bends` says for each edge where it
/// passes the rows between its ends: there it is vertical, and slanted only between rows, so it meets no box.
/// A piece with two waists gets the lower exactly below the upper (it is alone in its row), so that stacked
/// pieces do not drift sideways.
PieceLayout layoutInRows(const Piece& piece, std::vector<double> boxes,
                         const std::vector<std::vector<double>>& bends, double boxWidth, double boxHeight);

}  // namespace quantloupe
