// SPDX-License-Identifier: Apache-2.0
#include "picture/side_lanes.h"

#include <algorithm>

namespace quantloupe {
namespace {

/// The left and right ends of the drawing in each of its rows.
class Profile {
  public:
    Profile(const PieceLayout& layout, double boxWidth) {
        for (const Point& center : layout.centers) m_rows.push_back(center.y);
        std::sort(m_rows.begin(), m_rows.end());
        const auto same = [](double a, double b) { return b - a < 1; };
        m_rows.erase(std::unique(m_rows.begin(), m_rows.end(), same), m_rows.end());
        m_left.assign(m_rows.size(), 1e300);
        m_right.assign(m_rows.size(), -1e300);
        for (const Point& center : layout.centers) {
            reach(row(center.y), center.x - boxWidth / 2);
            reach(row(center.y), center.x + boxWidth / 2);
        }
        for (const auto& line : layout.lines) {
            for (std::size_t i = 1; i < line.size(); ++i) {
                for (std::size_t r = row(line[i - 1].y); r <= row(line[i].y); ++r) {
                    reach(r, line[i - 1].x);
                    reach(r, line[i].x);
                }
            }
        }
    }

    std::size_t row(double y) const {
        const auto below = std::lower_bound(m_rows.begin(), m_rows.end(), y - 0.5);
        return std::min(static_cast<std::size_t>(below - m_rows.begin()), m_rows.size() - 1);
    }
    void reach(std::size_t r, double x) {
        m_left[r] = std::min(m_left[r], x);
        m_right[r] = std::max(m_right[r], x);
    }
    double left(std::size_t from, std::size_t to) const {
        return *std::min_element(m_left.begin() + offset(from), m_left.begin() + offset(to) + 1);
    }
    double right(std::size_t from, std::size_t to) const {
        return *std::max_element(m_right.begin() + offset(from), m_right.begin() + offset(to) + 1);
    }

  private:
    static std::ptrdiff_t offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }
    std::vector<double> m_rows, m_left, m_right;
};

/// The long edges of one node.
struct Bundle {
    std::uint32_t from = 0;
    std::vector<std::size_t> edges;
    std::size_t firstRow = 0, lastRow = 0;
};

}  // namespace

void routeInSideLanes(const Strip& strip, const std::vector<std::size_t>& longEdges, double boxWidth,
                      PieceLayout& layout) {
    if (longEdges.empty()) return;
    Profile profile(layout, boxWidth);
    const std::vector<double> rows = rowHeights(strip.ranks, strip.heights, 0);
    const auto halfRow = [&](std::uint32_t i) { return rows[static_cast<std::size_t>(strip.ranks[i])] / 2; };
    std::vector<std::size_t> sorted = longEdges;
    std::sort(sorted.begin(), sorted.end());  // by `from`
    std::vector<Bundle> bundles;
    for (const std::size_t e : sorted) {
        const PieceEdge& edge = strip.edges[e];
        if (bundles.empty() || bundles.back().from != edge.from) {
            const std::size_t row = profile.row(layout.centers[edge.from].y);
            bundles.push_back({edge.from, {}, row, row});
        }
        bundles.back().edges.push_back(e);
        bundles.back().lastRow = std::max(bundles.back().lastRow, profile.row(layout.centers[edge.to].y));
    }
    std::stable_sort(bundles.begin(), bundles.end(), [](const Bundle& a, const Bundle& b) {
        return a.lastRow - a.firstRow < b.lastRow - b.firstRow;
    });

    const double spacing = bundles.size() > 200 ? 4 : 8;
    const double port = std::max(0.0, boxWidth / 2 - 16);
    for (const Bundle& bundle : bundles) {
        const Point& from = layout.centers[bundle.from];
        const double left = profile.left(bundle.firstRow, bundle.lastRow) - spacing;
        const double right = profile.right(bundle.firstRow, bundle.lastRow) + spacing;
        double detour = 0;  // additional length on the right side compared with the left
        const auto count = [&](const Point& end) { detour += (right - end.x) - (end.x - left); };
        count(from);
        for (const std::size_t e : bundle.edges) count(layout.centers[strip.edges[e].to]);
        const double side = detour <= 0 ? 1 : -1;
        const double lane = side > 0 ? right : left;
        for (std::size_t r = bundle.firstRow; r <= bundle.lastRow; ++r) profile.reach(r, lane);
        for (const std::size_t e : bundle.edges) {
            const Point& to = layout.centers[strip.edges[e].to];
            const std::uint32_t target = strip.edges[e].to;
            const double out = from.y + halfRow(bundle.from) + 5;
            const double in = to.y - halfRow(target) - 11;
            layout.lines[e] = {{from.x + side * port, from.y + strip.heights[bundle.from] / 2},
                               {from.x + side * port, out},
                               {lane, out},
                               {lane, in},
                               {to.x + side * port, in},
                               {to.x + side * port, to.y - strip.heights[target] / 2}};
        }
    }
}

}  // namespace quantloupe
