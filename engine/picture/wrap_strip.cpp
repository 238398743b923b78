// SPDX-License-Identifier: Apache-2.0
// The drawing of a network is about 50 times as high as wide, so nothing is recognizable if it is scaled to
// fit a window. Therefore the strip is cut into columns that are read one after the other, like those of a
// newspaper.
//
// The height of a column comes from the strip's area: n columns of width w + gap and height h / n are as wide
// as a times their height for n = sqrt(a h / (w + gap)). A cut is made between two rows near the desired
// height where the fewest lines cross (only one at a waist). A line that is cut leaves its column at the
// bottom, rises in a lane between the columns and enters the next one at the top. Each line has its own lane,
// so lanes do not touch.
//
// Cost: O(rows + points of lines * columns passed). Weakness: a cut through many long edges results in many
// lanes.
#include "picture/wrap_strip.h"

#include <algorithm>
#include <cmath>

namespace quantloupe {
namespace {

constexpr double kColumnGap = 56;
constexpr double kLaneGap = 6;
constexpr double kNearest = 0.75, kFarthest = 1.2;  ///< relative to the target height: where a cut is allowed

struct Column {
    double top = 0, bottom = 0;           ///< positions in the strip, in the middle of the gaps
    double left = 1e300, right = -1e300;  ///< extent of its boxes and lines
    std::size_t cut = 0;                  ///< number of lines that leave it at its bottom
    double shift = 0;                     ///< horizontal offset
};

double along(const Point& a, const Point& b, double y) {
    return b.y > a.y ? a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y) : a.x;
}

class Wrapper {
  public:
    Wrapper(const Strip& strip, double boxWidth, double aspect, PieceLayout& layout)
        : m_strip(strip), m_width(boxWidth), m_aspect(aspect), m_layout(layout) {}

    void wrap() {
        const std::vector<double> gaps = rowGaps();
        if (gaps.size() < 12) return;
        double left = 1e300, right = -1e300;
        for (const Point& c : m_layout.centers)
            left = std::min(left, c.x - m_width / 2), right = std::max(right, c.x + m_width / 2);
        for (const auto& line : m_layout.lines)
            for (const Point& p : line) left = std::min(left, p.x), right = std::max(right, p.x);
        const double columns =
            std::round(std::sqrt(m_aspect * (gaps.back() - gaps.front()) / (right - left + kColumnGap)));
        if (columns < 2) return;
        chooseCuts(gaps, (gaps.back() - gaps.front()) / columns);
        if (m_columns.size() < 2) return;
        measure();
        double x = 0;
        for (Column& column : m_columns) {
            column.shift = x - column.left;
            x += column.right - column.left + kColumnGap + kLaneGap * static_cast<double>(column.cut);
        }
        moveLines();
        for (Point& c : m_layout.centers) c = moved(c, columnOf(c.y));
    }

  private:
    /// The middles of the gaps between rows, with one above the first and one below the last.
    std::vector<double> rowGaps() const {
        std::vector<double> middles;
        const std::vector<double> heights = rowHeights(m_strip.ranks, m_strip.heights, 0);
        int row = -1;
        for (std::size_t i = 0; i < m_strip.ranks.size(); ++i) {
            if (m_strip.ranks[i] == row) continue;
            row = m_strip.ranks[i];
            middles.push_back(m_layout.centers[i].y - heights[static_cast<std::size_t>(row)] / 2 -
                              kRowGap / 2);
        }
        if (!m_strip.ranks.empty())
            middles.push_back(m_layout.centers.back().y + heights.back() / 2 + kRowGap / 2);
        return middles;
    }

    void chooseCuts(const std::vector<double>& gaps, double targetHeight) {
        std::vector<int> crossing(gaps.size() + 1, 0);
        for (const auto& line : m_layout.lines) {
            const auto first = std::upper_bound(gaps.begin(), gaps.end(), line.front().y) - gaps.begin();
            const auto last = std::lower_bound(gaps.begin(), gaps.end(), line.back().y) - gaps.begin();
            if (first >= last) continue;
            ++crossing[static_cast<std::size_t>(first)];
            --crossing[static_cast<std::size_t>(last)];
        }
        for (std::size_t g = 1; g < crossing.size(); ++g) crossing[g] += crossing[g - 1];
        Column column;
        column.top = gaps.front();
        while (gaps.back() - column.top > kFarthest * targetHeight) {
            std::size_t best = gaps.size();
            const auto worse = [&](std::size_t a, std::size_t b) {
                if (crossing[a] != crossing[b]) return crossing[a] > crossing[b];
                return std::abs(gaps[a] - column.top - targetHeight) >
                       std::abs(gaps[b] - column.top - targetHeight);
            };
            for (std::size_t g = 1; g + 1 < gaps.size(); ++g) {
                const double height = gaps[g] - column.top;
                if (height < kNearest * targetHeight || height > kFarthest * targetHeight) continue;
                if (best == gaps.size() || worse(best, g)) best = g;
            }
            if (best == gaps.size()) break;
            column.bottom = gaps[best];
            m_columns.push_back(column);
            column.top = column.bottom;
        }
        column.bottom = gaps.back();
        m_columns.push_back(column);
    }

    std::size_t columnOf(double y) const {
        const auto below = std::upper_bound(m_columns.begin() + 1, m_columns.end(), y,
                                            [](double value, const Column& c) { return value < c.top; });
        return static_cast<std::size_t>(below - m_columns.begin()) - 1;
    }

    Point moved(const Point& p, std::size_t column) const {
        return {p.x + m_columns[column].shift, p.y - m_columns[column].top};
    }

    /// The line's parts in each of the columns that it passes, `visit(column, points)`.
    template <typename Visit>
    void split(const std::vector<Point>& line, Visit visit) const {
        std::size_t column = columnOf(line.front().y);
        std::vector<Point> part{line.front()};
        for (std::size_t i = 1; i < line.size(); ++i) {
            while (line[i].y > m_columns[column].bottom && column + 1 < m_columns.size()) {
                const Point at{along(line[i - 1], line[i], m_columns[column].bottom),
                               m_columns[column].bottom};
                part.push_back(at);
                visit(column, part);
                part = {at};
                ++column;
            }
            part.push_back(line[i]);
        }
        visit(column, part);
    }

    void measure() {
        const auto widen = [this](std::size_t column, double left, double right) {
            m_columns[column].left = std::min(m_columns[column].left, left);
            m_columns[column].right = std::max(m_columns[column].right, right);
        };
        for (const Point& c : m_layout.centers) widen(columnOf(c.y), c.x - m_width / 2, c.x + m_width / 2);
        for (const auto& line : m_layout.lines)
            split(line, [&](std::size_t column, const std::vector<Point>& part) {
                for (const Point& p : part) widen(column, p.x, p.x);
                if (part.back().y >= m_columns[column].bottom) ++m_columns[column].cut;
            });
    }

    void moveLines() {
        std::vector<std::size_t> lanes(m_columns.size(), 0);
        for (auto& line : m_layout.lines) {
            std::vector<Point> result;
            split(line, [&](std::size_t column, const std::vector<Point>& part) {
                for (const Point& p : part) result.push_back(moved(p, column));
                if (part.back().y < m_columns[column].bottom || column + 1 == m_columns.size()) return;
                const auto lane = static_cast<double>(lanes[column]++);
                const Column &here = m_columns[column], &next = m_columns[column + 1];
                const double x = here.right + here.shift + kColumnGap / 2 + lane * kLaneGap;
                const double bottom = here.bottom - here.top + lane * kLaneGap;
                const double top = -kRowGap / 2 - lane * kLaneGap;
                const double in = part.back().x + next.shift;
                result.push_back({result.back().x, bottom});
                result.push_back({x, bottom});
                result.push_back({x, top});
                result.push_back({in, top});
            });
            line = std::move(result);
        }
    }

    const Strip& m_strip;
    double m_width, m_aspect;
    PieceLayout& m_layout;
    std::vector<Column> m_columns;
};

}  // namespace

void wrapStrip(const Strip& strip, double boxWidth, double aspect, PieceLayout& layout) {
    if (!strip.ranks.empty()) Wrapper(strip, boxWidth, aspect, layout).wrap();
}

}  // namespace quantloupe
