// SPDX-License-Identifier: Apache-2.0
// Layered drawing after Sugiyama, Tagawa and Toda (1981), with fixed numbers of passes.
//   - Ranks are given. An edge that passes rows gets a *bend* in each; boxes and bends are the *items* of a
//   row.
//   - Order in the rows: barycenter sweeps down and up; the order with the fewest crossings is kept.
//   - Coordinates: sweeps in which the target of every item is the mean of its neighbors in the previous row.
//     The nearest coordinates that keep order and distance are computed exactly, row by row (isotonic
//     regression, pool adjacent violators). Bends weigh much more than boxes, so long edges are straight.
// Cost: O(items log items) per pass. Weakness: more crossings than dot, and neighbors are not exchanged.
#include "picture/layered_layout.h"

#include <algorithm>

namespace quantloupe {
namespace {

using Index = std::uint32_t;

struct Link {
    Index item;
    double weight;
};

struct Items {
    std::size_t boxes = 0;
    std::vector<int> rank;
    std::vector<std::vector<Link>> up, down;
    std::vector<std::vector<Index>> bendsOf;  ///< the bends of each edge of the piece, from top to bottom
    std::vector<std::vector<Index>> rows;     ///< in the current order
    std::vector<Index> place;                 ///< an item's index in its row

    bool isBend(Index item) const { return item >= boxes; }
    void numberRow(const std::vector<Index>& row) {
        for (Index i = 0; i < row.size(); ++i) place[row[i]] = i;
    }
};

Items makeItems(const Piece& piece) {
    Items items;
    items.boxes = piece.size();
    items.rank = piece.ranks;
    const std::size_t total = piece.work();
    items.rank.reserve(total);
    items.up.resize(total);
    items.down.resize(total);
    items.place.resize(total);
    const int rows = piece.ranks.empty() ? 0 : *std::max_element(piece.ranks.begin(), piece.ranks.end()) + 1;
    items.rows.resize(static_cast<std::size_t>(rows));
    const std::vector<char> trunk = trunkEdges(piece);
    for (std::size_t e = 0; e < piece.edges.size(); ++e) {
        const PieceEdge& edge = piece.edges[e];
        Index last = edge.from;
        std::vector<Index>& bends = items.bendsOf.emplace_back();
        const auto link = [&items](Index a, Index b, double weight) {
            items.down[a].push_back({b, weight});
            items.up[b].push_back({a, weight});
        };
        for (int r = piece.ranks[edge.from] + 1; r < piece.ranks[edge.to]; ++r) {
            const auto bend = static_cast<Index>(items.rank.size());
            items.rank.push_back(r);
            bends.push_back(bend);
            link(last, bend, 1);
            last = bend;
        }
        link(last, edge.to, trunk[e] ? 8 : 1);
    }
    // The initial order is depth first from the top, so that branches start side by side.
    std::vector<char> seen(total, 0);
    std::vector<Index> stack;
    for (Index start = 0; start < items.boxes; ++start) {
        stack.push_back(start);
        while (!stack.empty()) {
            const Index item = stack.back();
            stack.pop_back();
            if (seen[item]) continue;
            seen[item] = 1;
            items.rows[static_cast<std::size_t>(items.rank[item])].push_back(item);
            for (std::size_t k = items.down[item].size(); k-- > 0;) stack.push_back(items.down[item][k].item);
        }
    }
    for (const auto& row : items.rows) items.numberRow(row);
    return items;
}

/// Returns the number of crossings between links from the row to the row above.
std::size_t crossingsAbove(const Items& items, std::size_t row, std::vector<Index>& counts) {
    const std::size_t width = items.rows[row - 1].size();
    counts.assign(width + 1, 0);  // a Fenwick tree over the positions in the row above
    std::size_t crossings = 0, added = 0;
    std::vector<Index> ends;
    for (const Index item : items.rows[row]) {
        ends.clear();
        for (const Link& link : items.up[item]) ends.push_back(items.place[link.item]);
        for (const Index end : ends) {
            std::size_t notRight = 0;
            for (std::size_t i = end + 1; i > 0; i &= i - 1) notRight += counts[i];
            crossings += added - notRight;
        }
        for (const Index end : ends)
            for (std::size_t i = end + 1; i <= width; i += i & (~i + 1)) ++counts[i];
        added += ends.size();
    }
    return crossings;
}

std::size_t countCrossings(const Items& items) {
    std::size_t sum = 0;
    std::vector<Index> counts;
    for (std::size_t row = 1; row < items.rows.size(); ++row) sum += crossingsAbove(items, row, counts);
    return sum;
}

/// Sorts a row by the mean position of the neighbors in the previous row; items without neighbors stay where
/// they are.
void sortRow(Items& items, std::vector<Index>& row, const std::vector<std::vector<Link>>& neighbors,
             std::vector<double>& key) {
    for (const Index item : row) {
        const auto& links = neighbors[item];
        double sum = 0;
        for (const Link& link : links) sum += items.place[link.item];
        key[item] =
            links.empty() ? static_cast<double>(items.place[item]) : sum / static_cast<double>(links.size());
    }
    std::stable_sort(row.begin(), row.end(), [&key](Index a, Index b) { return key[a] < key[b]; });
    items.numberRow(row);
}

void orderRows(Items& items, const CancelToken& cancel) {
    const std::size_t total = items.rank.size();
    const std::size_t passes = std::clamp<std::size_t>(1'000'000 / (total + 1), 4, 16);
    std::vector<double> key(total);
    std::size_t fewest = countCrossings(items);
    auto best = items.rows;
    for (std::size_t pass = 0; pass < passes && fewest > 0; ++pass) {
        cancel.check();
        if (pass % 2 == 0) {
            for (std::size_t r = 1; r < items.rows.size(); ++r) sortRow(items, items.rows[r], items.up, key);
        } else {
            for (std::size_t r = items.rows.size() - 1; r-- > 0;)
                sortRow(items, items.rows[r], items.down, key);
        }
        const std::size_t crossings = countCrossings(items);
        if (crossings < fewest) {
            fewest = crossings;
            best = items.rows;
        }
    }
    items.rows = std::move(best);
    for (const auto& row : items.rows) items.numberRow(row);
}

class LayerPlacement {
  public:
    LayerPlacement(const Items& items, double boxWidth)
        : m_items(items), m_boxWidth(boxWidth), m_x(items.rank.size()) {
        for (const auto& row : items.rows) {
            double at = 0;
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (i > 0) at += distance(row[i - 1], row[i]);
                m_x[row[i]] = at;
            }
            for (const Index item : row) m_x[item] -= at / 2;
        }
    }

    void sweep(bool downwards) {
        const auto& rows = m_items.rows;
        if (downwards) {
            for (std::size_t r = 1; r < rows.size(); ++r) placeRow(rows[r], m_items.up);
        } else {
            for (std::size_t r = rows.size() - 1; r-- > 0;) placeRow(rows[r], m_items.down);
        }
    }

    const std::vector<double>& x() const { return m_x; }

  private:
    double distance(Index a, Index b) const {
        const bool bendA = m_items.isBend(a), bendB = m_items.isBend(b);
        if (bendA && bendB) return 10;
        if (bendA || bendB) return m_boxWidth / 2 + 12;
        return m_boxWidth + kBoxGap;
    }

    void placeRow(const std::vector<Index>& row, const std::vector<std::vector<Link>>& neighbors) {
        struct Block {
            double sum, weight;
            std::size_t count;
            double mean() const { return sum / weight; }
        };
        std::vector<Block> blocks;
        std::vector<double> offset(row.size(), 0);
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) offset[i] = offset[i - 1] + distance(row[i - 1], row[i]);
            double sum = 0, weight = 0;
            for (const Link& link : neighbors[row[i]]) {
                sum += link.weight * m_x[link.item];
                weight += link.weight;
            }
            const double preferred = weight > 0 ? sum / weight : m_x[row[i]];
            const double strength = m_items.isBend(row[i]) ? 100 : weight > 0 ? weight : 0.1;
            blocks.push_back({(preferred - offset[i]) * strength, strength, 1});
            while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
                const Block last = blocks.back();
                blocks.pop_back();
                blocks.back().sum += last.sum;
                blocks.back().weight += last.weight;
                blocks.back().count += last.count;
            }
        }
        std::size_t i = 0;
        for (const Block& block : blocks)
            for (std::size_t k = 0; k < block.count; ++k, ++i) m_x[row[i]] = block.mean() + offset[i];
    }

    const Items& m_items;
    double m_boxWidth;
    std::vector<double> m_x;
};

}  // namespace

PieceLayout layeredLayout(const Piece& piece, double boxWidth, double boxHeight, const CancelToken& cancel) {
    Items items = makeItems(piece);
    if (!items.rows.empty()) orderRows(items, cancel);
    LayerPlacement placement(items, boxWidth);
    const std::size_t passes = std::clamp<std::size_t>(600'000 / (items.rank.size() + 1), 3, 9);
    for (std::size_t pass = 0; pass < passes && !items.rows.empty(); ++pass) {
        cancel.check();
        placement.sweep(pass % 2 == (passes + 1) % 2);  // the last sweep goes down
    }

    const std::vector<double>& x = placement.x();
    std::vector<std::vector<double>> bends(piece.edges.size());
    for (std::size_t e = 0; e < bends.size(); ++e)
        for (const Index bend : items.bendsOf[e]) bends[e].push_back(x[bend]);
    return layoutInRows(piece, x, bends, boxWidth, boxHeight);
}

}  // namespace quantloupe
