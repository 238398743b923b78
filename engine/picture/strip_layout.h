// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layout of one connected part of the drawing: it is cut at its waists, and the pieces are laid out and
// stacked.

#include <unordered_map>

#include "base/cancel.h"
#include "picture/piece.h"

namespace quantloupe {

/// Nodes are numbered from top to bottom (by rank, then in graph order): every edge has from < to.
struct Strip {
    std::vector<int> ranks;
    std::vector<PieceEdge> edges;  ///< sorted, each pair once
    std::vector<double> heights;   ///< one per node
};

/// Lays out strips. Caches the layouts of pieces, so that repeated blocks cost nothing.
class StripLayouter {
  public:
    StripLayouter(double boxWidth, double boxHeight) : m_width(boxWidth), m_height(boxHeight) {}

    /// Returns the layout in the strip's own coordinates. Throws Cancelled.
    PieceLayout layout(const Strip& strip, const CancelToken& cancel);

  private:
    struct Cut;
    Cut cut(const Strip& strip, int longest) const;
    Cut bestCut(const Strip& strip) const;
    const PieceLayout& pieceLayout(const Piece& piece, const CancelToken& cancel);

    double m_width, m_height;
    double m_dotCost = 0;  ///< spent so far
    std::unordered_map<std::string, PieceLayout> m_seen;
};

}  // namespace quantloupe
