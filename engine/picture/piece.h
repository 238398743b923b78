// SPDX-License-Identifier: Apache-2.0
#pragma once
// Input and output of the two layout algorithms: a small graph of boxes of equal width.

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
    std::vector<int> ranks;        ///< one per node; the first row is 0, every edge leads to a higher rank
    std::vector<PieceEdge> edges;  ///< sorted, each pair once
    std::vector<double> heights;   ///< one per node; empty: all are as high as the layout's boxes
    bool top = false;              ///< node 0 is a waist: alone in the first row
    bool bottom = false;           ///< the last node is one: alone in the last row

    std::size_t size() const { return ranks.size(); }
    /// Equal for pieces that get the same layout (all boxes of a drawing have one width).
    std::string key() const;
    /// Returns the number of boxes and bends that a layered layout has to place: nodes plus one for each row
    /// that an edge passes.
    std::size_t work() const;
};

/// Centers of the boxes and one polyline per edge. y grows downwards from the top of the first row.
struct PieceLayout {
    std::vector<Point> centers;
    std::vector<std::vector<Point>> lines;
};

/// Clear space between the rows of a drawing and between the boxes of a row, in points (dot rounds 0.3 inches
/// to 22).
constexpr double kRowGap = 22;
constexpr double kBoxGap = 18;

/// For each edge, whether it belongs to the trunk, which is drawn straight: the edges that lie on every
/// longest path of the piece, or (`onePath`) those of one of these paths.
std::vector<char> trunkEdges(const Piece& piece, bool onePath = false);

/// Returns the height of each rank's row, which is that of its highest box.
std::vector<double> rowHeights(const std::vector<int>& ranks, const std::vector<double>& heights,
                               double boxHeight);

/// Returns the layout of boxes in the rows of their ranks at the given x coordinates. `bends` contains for
/// each edge the x coordinates at which it passes the rows between its ends; it is vertical within a row and
/// slanted only between rows, so it crosses no box. Boxes are in the middle of their rows. In a piece with
/// two waists, the lower one is placed exactly below the upper one, so that stacked pieces do not drift
/// sideways.
PieceLayout layoutInRows(const Piece& piece, std::vector<double> boxes,
                         const std::vector<std::vector<double>>& bends, double boxWidth, double boxHeight);

}  // namespace quantloupe
