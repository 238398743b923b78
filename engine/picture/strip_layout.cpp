// SPDX-License-Identifier: Apache-2.0
// On a whole network, dot is quadratic at best and does not terminate at worst: a mask that feeds 24 layers,
// or a network that concatenates all earlier features, has tens of thousands of bends. Therefore:
//
// 1. Edges that pass more than 30 rows (10 if only that makes the pieces small) are taken out and drawn in
//    lanes at the sides (side_lanes.h), unless the strip is only connected by them.
// 2. The remaining graph is cut at its waists.
// 3. Each distinct piece is laid out once, with dot, or with layeredLayout() if it is large or dot has used
//    up its time.
// 4. Pieces are stacked so that the waists that they share coincide.
//
// Cost: linear except for dot, which gets at most about 0.5 s (estimated from sizes, so that results do not
// depend on the machine's load).
#include "picture/strip_layout.h"

#include <algorithm>

#include "base/disjoint_sets.h"
#include "picture/dot_layout.h"
#include "picture/layered_layout.h"
#include "picture/side_lanes.h"
#include "picture/waists.h"

namespace quantloupe {
namespace {

constexpr std::size_t kMaxDotWork = 1200;
constexpr std::size_t kDenseWork = 600;  ///< above this, cutting at shorter edges is tried, too
constexpr double kDotBudget = 3e6;       ///< limit of work² summed over pieces: two of the largest pieces
constexpr int kLongEdge = 30;
constexpr int kLongEdgeWhenDense = 10;

}  // namespace

/// A strip's pieces. Neighbors share a node: the last of one is the first of the next.
struct StripLayouter::Cut {
    struct Part {
        Piece piece;
        std::uint32_t first = 0;              ///< index in the strip of the piece's node 0
        std::vector<std::size_t> stripEdges;  ///< index in the strip of each of the piece's edges
    };
    std::vector<Part> parts;
    std::vector<std::size_t> longEdges;
    std::size_t mostWork = 0;
};

StripLayouter::Cut StripLayouter::cut(const Strip& strip, int longest) const {
    const auto span = [&strip](std::size_t e) {
        return strip.ranks[strip.edges[e].to] - strip.ranks[strip.edges[e].from];
    };
    DisjointSets sets(strip.ranks.size());
    std::vector<char> kept(strip.edges.size(), 0);
    std::vector<std::size_t> far;
    for (std::size_t e = 0; e < strip.edges.size(); ++e) {
        if (span(e) > longest) {
            far.push_back(e);
        } else {
            kept[e] = 1;
            sets.join(strip.edges[e].from, strip.edges[e].to);
        }
    }
    std::stable_sort(far.begin(), far.end(),
                     [&span](std::size_t a, std::size_t b) { return span(a) < span(b); });
    Cut result;
    for (const std::size_t e : far) {
        if (sets.join(strip.edges[e].from, strip.edges[e].to))
            kept[e] = 1;
        else
            result.longEdges.push_back(e);
    }

    std::vector<PieceEdge> keptEdges;
    for (std::size_t e = 0; e < strip.edges.size(); ++e)
        if (kept[e]) keptEdges.push_back(strip.edges[e]);
    const std::vector<int> waists = findWaists(strip.ranks, keptEdges);

    // Nodes are in the order of their rows, so a piece is a range of them, and its edges are those that start
    // in it.
    const auto nodes = static_cast<std::uint32_t>(strip.ranks.size());
    std::size_t edge = 0;
    std::uint32_t first = 0;
    bool top = !waists.empty() && waists.front() == 0;
    for (std::size_t w = top ? 1 : 0; first < nodes; ++w) {
        Cut::Part part;
        part.first = first;
        part.piece.top = top;
        std::uint32_t last = nodes - 1;
        if (w < waists.size()) {
            const auto at = std::lower_bound(strip.ranks.begin(), strip.ranks.end(), waists[w]);
            last = static_cast<std::uint32_t>(at - strip.ranks.begin());
            part.piece.bottom = true;
        }
        for (std::uint32_t i = first; i <= last; ++i)
            part.piece.ranks.push_back(strip.ranks[i] - strip.ranks[first]);
        part.piece.heights.assign(strip.heights.begin() + first, strip.heights.begin() + last + 1);
        const std::uint32_t end = last == nodes - 1 ? nodes : last;
        for (; edge < strip.edges.size() && strip.edges[edge].from < end; ++edge) {
            if (!kept[edge]) continue;
            part.piece.edges.push_back({strip.edges[edge].from - first, strip.edges[edge].to - first});
            part.stripEdges.push_back(edge);
        }
        result.mostWork = std::max(result.mostWork, part.piece.work());
        result.parts.push_back(std::move(part));
        if (last == nodes - 1) break;
        first = last;
        top = true;
    }
    return result;
}

StripLayouter::Cut StripLayouter::bestCut(const Strip& strip) const {
    Cut usual = cut(strip, kLongEdge);
    if (usual.mostWork <= kDenseWork) return usual;
    Cut dense = cut(strip, kLongEdgeWhenDense);
    return dense.mostWork <= kMaxDotWork && 2 * dense.mostWork < usual.mostWork ? std::move(dense)
                                                                                : std::move(usual);
}

const PieceLayout& StripLayouter::pieceLayout(const Piece& piece, const CancelToken& cancel) {
    std::string key = piece.key();
    if (const auto found = m_seen.find(key); found != m_seen.end()) return found->second;
    cancel.check();
    PieceLayout layout;
    const auto work = static_cast<double>(piece.work());
    const double cost = work * work;
    const bool chain = piece.edges.size() + 1 == piece.size() &&
                       static_cast<std::size_t>(piece.ranks.back()) + 1 == piece.size();
    const bool small = piece.work() <= kMaxDotWork && piece.edges.size() <= kMaxDotWork;
    if (!chain && small && m_dotCost + cost <= kDotBudget) {
        m_dotCost += cost;
        if (auto byDot = dotLayout(piece, m_width, m_height)) layout = std::move(*byDot);
    }
    if (layout.centers.empty()) layout = layeredLayout(piece, m_width, m_height, cancel);
    return m_seen.emplace(std::move(key), std::move(layout)).first->second;
}

PieceLayout StripLayouter::layout(const Strip& strip, const CancelToken& cancel) {
    const Cut pieces = bestCut(strip);
    PieceLayout result;
    result.centers.resize(strip.ranks.size());
    result.lines.resize(strip.edges.size());
    for (const Cut::Part& part : pieces.parts) {
        cancel.check();
        const PieceLayout& laid = pieceLayout(part.piece, cancel);
        Point shift;
        if (part.first > 0) {
            const Point& shared = result.centers[part.first];
            shift = {shared.x - laid.centers.front().x, shared.y - laid.centers.front().y};
        }
        for (std::size_t i = 0; i < laid.centers.size(); ++i)
            result.centers[part.first + i] = {laid.centers[i].x + shift.x, laid.centers[i].y + shift.y};
        for (std::size_t e = 0; e < laid.lines.size(); ++e) {
            std::vector<Point>& line = result.lines[part.stripEdges[e]];
            line = laid.lines[e];
            for (Point& p : line) p = {p.x + shift.x, p.y + shift.y};
        }
    }
    routeInSideLanes(strip, pieces.longEdges, m_width, result);
    return result;
}

}  // namespace quantloupe
