// SPDX-License-Identifier: Apache-2.0
#include "picture/piece.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace quantloupe {
namespace {

/// Drops points that do not bend the line.
void simplifyLine(std::vector<Point>& line) {
    std::vector<Point> kept;
    kept.reserve(line.size());
    for (const Point& p : line) {
        if (!kept.empty() && std::hypot(p.x - kept.back().x, p.y - kept.back().y) < 0.01) continue;
        while (kept.size() >= 2) {
            const Point& a = kept[kept.size() - 2];
            const Point& b = kept.back();
            const double length = std::hypot(p.x - a.x, p.y - a.y);
            const double cross = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
            const double along = (b.x - a.x) * (p.x - b.x) + (b.y - a.y) * (p.y - b.y);
            if (std::abs(cross) > 0.25 * length || along < 0) break;
            kept.pop_back();
        }
        kept.push_back(p);
    }
    line = std::move(kept);
}

}  // namespace

std::string Piece::key() const {
    std::string text;
    text.reserve(8 + 4 * ranks.size() + 8 * edges.size());
    const auto put = [&text](auto value) {
        for (unsigned shift = 0; shift < 8 * sizeof value; shift += 8)
            text.push_back(static_cast<char>((value >> shift) & 0xff));
    };
    put((top ? 1u : 0u) | (bottom ? 2u : 0u));
    put(static_cast<std::uint32_t>(ranks.size()));
    for (const int rank : ranks) put(static_cast<std::uint32_t>(rank));
    for (const PieceEdge& edge : edges) {
        put(edge.from);
        put(edge.to);
    }
    for (const double height : heights) put(std::bit_cast<std::uint64_t>(height));
    return text;
}

std::size_t Piece::work() const {
    std::size_t sum = ranks.size();
    for (const PieceEdge& edge : edges)
        sum += static_cast<std::size_t>(ranks[edge.to] - ranks[edge.from] - 1);
    return sum;
}

std::vector<char> trunkEdges(const Piece& piece, bool onePath) {
    // Length and number of the longest paths from the top to a node, and from the node to the bottom. The
    // numbers may wrap around; in the worst case, a trunk is missed or wrongly found, which only affects the
    // appearance.
    struct Paths {
        int length = 0;
        std::uint64_t count = 1;
        void extend(const Paths& other) {
            if (other.length + 1 > length)
                *this = {other.length + 1, other.count};
            else if (other.length + 1 == length)
                count += other.count;
        }
    };
    const std::size_t n = piece.size();
    std::vector<Paths> above(n), below(n);
    for (const PieceEdge& edge : piece.edges) above[edge.to].extend(above[edge.from]);  // sorted by `from`
    for (std::size_t i = piece.edges.size(); i-- > 0;)
        below[piece.edges[i].from].extend(below[piece.edges[i].to]);

    int longest = 0;
    for (const Paths& paths : above) longest = std::max(longest, paths.length);
    std::uint64_t total = 0;
    for (const Paths& paths : above)
        if (paths.length == longest) total += paths.count;

    std::vector<char> trunk(piece.edges.size(), 0);
    std::uint32_t at = 0;  // the next node of the single path
    while (at < n && below[at].length != longest) ++at;
    for (std::size_t i = 0; i < piece.edges.size();) {
        // The edges of one node that lie on a longest path.
        const std::uint32_t from = piece.edges[i].from;
        std::vector<std::size_t> candidates;
        for (; i < piece.edges.size() && piece.edges[i].from == from; ++i) {
            const Paths& a = above[from];
            const Paths& b = below[piece.edges[i].to];
            if (a.length + 1 + b.length != longest) continue;
            candidates.push_back(i);
            if (!onePath) trunk[i] = a.count * b.count == total;
        }
        if (!onePath || from != at || candidates.empty()) continue;
        const std::size_t middle = candidates[candidates.size() / 2];
        trunk[middle] = 1;
        at = piece.edges[middle].to;
    }
    return trunk;
}

std::vector<double> rowHeights(const std::vector<int>& ranks, const std::vector<double>& heights,
                               double boxHeight) {
    const int rows = ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end()) + 1;
    std::vector<double> result(static_cast<std::size_t>(rows), heights.empty() ? boxHeight : 0);
    for (std::size_t i = 0; i < heights.size(); ++i) {
        double& row = result[static_cast<std::size_t>(ranks[i])];
        row = std::max(row, heights[i]);
    }
    return result;
}

PieceLayout layoutInRows(const Piece& piece, std::vector<double> boxes,
                         const std::vector<std::vector<double>>& bends, double boxWidth, double boxHeight) {
    const std::vector<double> rows = rowHeights(piece.ranks, piece.heights, boxHeight);
    std::vector<double> tops{0};
    for (const double height : rows) tops.push_back(tops.back() + height + kRowGap);
    const auto top = [&](int rank) { return tops[static_cast<std::size_t>(rank)]; };
    const auto bottom = [&](int rank) { return top(rank) + rows[static_cast<std::size_t>(rank)]; };
    const auto half = [&](std::size_t i) {
        return (piece.heights.empty() ? boxHeight : piece.heights[i]) / 2;
    };
    if (piece.top && piece.bottom) boxes.back() = boxes.front();
    PieceLayout result;
    result.centers.reserve(piece.size());
    for (std::size_t i = 0; i < piece.size(); ++i)
        result.centers.push_back({boxes[i], (top(piece.ranks[i]) + bottom(piece.ranks[i])) / 2});
    result.lines.reserve(piece.edges.size());
    const double reach = std::max(0.0, boxWidth / 2 - 16);
    for (std::size_t e = 0; e < piece.edges.size(); ++e) {
        const PieceEdge& edge = piece.edges[e];
        const double from = boxes[edge.from], to = boxes[edge.to];
        // A line to a bend leaves the border as close to the bend as possible; a line to a box points to its
        // middle.
        const double aside = std::clamp((to - from) / 3, -reach, reach);
        const bool bent = !bends[e].empty();
        const double start = bent ? std::clamp(bends[e].front(), from - reach, from + reach) : from + aside;
        const double end = bent ? std::clamp(bends[e].back(), to - reach, to + reach) : to - aside;
        int row = piece.ranks[edge.from];
        std::vector<Point> line{{start, result.centers[edge.from].y + half(edge.from)}, {start, bottom(row)}};
        for (const double x : bends[e]) {
            ++row;
            line.push_back({x, top(row)});
            line.push_back({x, bottom(row)});
        }
        line.push_back({end, top(piece.ranks[edge.to])});
        line.push_back({end, result.centers[edge.to].y - half(edge.to)});
        simplifyLine(line);
        result.lines.push_back(std::move(line));
    }
    return result;
}

}  // namespace quantloupe
