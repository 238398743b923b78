// SPDX-License-Identifier: Apache-2.0
#include "graph/edge_painter.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace quantloupe::ui {

namespace {

constexpr double kLine = 1.2;           ///< width of edges
constexpr double kHighlightedLine = 2;  ///< width of the edges of the hovered or current box
constexpr double kHead = 6;             ///< length of arrow heads
constexpr double kReferenceFont = 8.5;

QPointF toPointF(const Point& p) { return {p.x, p.y}; }

bool straight(QPointF a, QPointF b) { return a.x() == b.x() || a.y() == b.y(); }

/// Returns the interval, in fractions of `along`, in which the line from `a` is inside `rect`. If it is not
/// inside, the second value is smaller than the first.
std::pair<double, double> seenPart(QPointF a, QPointF along, const QRectF& rect) {
    double from = 0, to = 1;
    const auto cut = [&](double place, double step, double low, double high) {
        if (step == 0) {
            if (place < low || place > high) to = -1;
            return;
        }
        from = std::max(from, ((step > 0 ? low : high) - place) / step);
        to = std::min(to, ((step > 0 ? high : low) - place) / step);
    };
    cut(a.x(), along.x(), rect.left(), rect.right());
    cut(a.y(), along.y(), rect.top(), rect.bottom());
    return {from, to};
}

/// Returns the corners of an arrow head, the tip first; empty if the edge has no direction.
QPolygonF headOf(const PictureEdge& edge) {
    const std::size_t count = edge.points.size();
    if (count < 2) return {};
    const QPointF tip = toPointF(edge.points[count - 1]), along = tip - toPointF(edge.points[count - 2]);
    const double length = std::hypot(along.x(), along.y());
    if (length < 0.01) return {};
    const QPointF unit = along / length, base = tip - unit * std::min(kHead, length);
    const QPointF side(-unit.y() * kHead * 0.45, unit.x() * kHead * 0.45);
    return {tip, base + side, base - side};
}

}  // namespace

EdgePainter::EdgePainter(QPainter& painter, const PaintScene& scene, TextCache& texts, const QRectF& visible,
                         double zoom)
    : m_painter(painter),
      m_scene(scene),
      m_texts(texts),
      m_theme(*scene.theme),
      m_grid(painter),
      m_visible(visible),
      m_zoom(zoom),
      m_plain(zoom < kPlainZoom) {}

bool EdgePainter::isHighlighted(const Edge& edge) const {
    const auto touches = [&](std::optional<std::size_t> node) {
        return node && (edge.from == *node || edge.to == *node);
    };
    return touches(m_scene.hovered) || touches(m_scene.current);
}

void EdgePainter::paint() {
    QPainterPath heads;
    heads.setFillRule(Qt::WindingFill);
    // The names of references are to the left of their stubs.
    const auto visible = m_scene.index->edgesIn(m_visible.adjusted(-2, -12, 100, 12));
    for (const std::size_t i : visible) {
        const Edge& edge = m_scene.picture->edges[i];
        if (isHighlighted(edge) || !edge.drawn()) continue;
        if (m_plain) {
            addPlain(edge);
        } else {
            addSegments(edge);
            addHead(edge, heads);
        }
    }
    if (m_plain) {
        // Dense lines must not hide the boxes.
        fillPlain(blended(m_theme.edge, m_theme.canvas, m_zoom < 0.08 ? 0.28 : 0.5));
    } else {
        fillSegments(m_theme.edge);
        m_painter.fillPath(heads, m_theme.edge);
        for (const std::size_t i : visible)
            if (const Edge& edge = m_scene.picture->edges[i]; edge.reference && !isHighlighted(edge))
                paintReference(edge, m_theme.edge);
    }
    // All of them, regardless of their position: the line from a stub to its far box is not in the index.
    std::set<std::size_t> highlighted;
    for (const auto& node : {m_scene.hovered, m_scene.current}) {
        if (!node) continue;
        highlighted.insert(m_scene.index->edgesInto(*node).begin(), m_scene.index->edgesInto(*node).end());
        highlighted.insert(m_scene.index->edgesOutOf(*node).begin(), m_scene.index->edgesOutOf(*node).end());
    }
    for (const std::size_t i : highlighted)
        if (!m_scene.picture->edges[i].inside) paintHighlighted(m_scene.picture->edges[i]);
}

void EdgePainter::addSegments(const Edge& edge) {
    for (std::size_t p = 1; p < edge.points.size(); ++p) {
        const QPointF a = toPointF(edge.points[p - 1]), b = toPointF(edge.points[p]);
        if (!QRectF(a, b).normalized().adjusted(-kLine, -kLine, kLine, kLine).intersects(m_visible)) continue;
        if (straight(a, b))
            m_straight.push_back(
                m_grid.line(a, b, kLine).intersected(m_grid.snapped(m_visible.adjusted(-4, -4, 4, 4))));
        else
            m_slanted.append(QLineF(a, b));
    }
}

void EdgePainter::fillSegments(const QColor& color) {
    const bool smooth = m_painter.testRenderHint(QPainter::Antialiasing);
    if (m_grid.pixels()) m_painter.setRenderHint(QPainter::Antialiasing, false);
    for (const QRectF& line : m_straight) m_painter.fillRect(line, color);
    m_painter.setRenderHint(QPainter::Antialiasing, smooth);
    QPen pen(color, kLine);
    pen.setCapStyle(Qt::FlatCap);
    m_painter.setPen(pen);
    m_painter.drawLines(m_slanted);
}

/// A line less than a pixel away from a column or row belongs to it.
void EdgePainter::addPlain(const Edge& edge) {
    const QRectF around = m_visible.adjusted(-1, -1, 1, 1);
    if (edge.points.empty()) return;
    QPointF a = toPointF(edge.points.front());
    for (std::size_t p = 1; p < edge.points.size(); ++p) {
        const QPointF b = toPointF(edge.points[p]);
        const double width = std::abs(b.x() - a.x()) * m_grid.scale(),
                     height = std::abs(b.y() - a.y()) * m_grid.scale();
        if (width + height < 1 && p + 1 < edge.points.size()) continue;
        const QPointF from = std::exchange(a, b);
        const QRectF part = QRectF(from, b).normalized();
        if (part.right() < around.left() || part.left() > around.right() || part.bottom() < around.top() ||
            part.top() > around.bottom())
            continue;
        const auto pixel = [](double place) { return static_cast<int>(std::floor(place)); };
        const auto within = [&](double value, double low, double high) {
            return std::clamp(value, low, high);
        };
        if (width < 1)
            m_columns.push_back({pixel(m_grid.x(from.x())),
                                 pixel(m_grid.y(within(part.top(), around.top(), around.bottom()))),
                                 pixel(m_grid.y(within(part.bottom(), around.top(), around.bottom()))) + 1});
        else if (height < 1)
            m_rows.push_back({pixel(m_grid.y(from.y())),
                              pixel(m_grid.x(within(part.left(), around.left(), around.right()))),
                              pixel(m_grid.x(within(part.right(), around.left(), around.right()))) + 1});
        else
            m_slanted.append(QLineF(from, b));
    }
}

void EdgePainter::fillRuns(std::vector<Run>& runs, bool columns, const QColor& color) {
    std::ranges::sort(runs);
    for (std::size_t i = 0; i < runs.size();) {
        Run run = runs[i];
        for (++i; i < runs.size() && runs[i].at == run.at && runs[i].from <= run.to; ++i)
            run.to = std::max(run.to, runs[i].to);
        m_painter.fillRect(columns ? m_grid.scene(run.at, run.from, 1, run.to - run.from)
                                   : m_grid.scene(run.from, run.at, run.to - run.from, 1),
                           color);
    }
}

void EdgePainter::fillPlain(const QColor& color) {
    fillRuns(m_columns, true, color);
    fillRuns(m_rows, false, color);
    m_painter.setPen(QPen(color, 0));
    m_painter.drawLines(m_slanted);
}

void EdgePainter::addHead(const Edge& edge, QPainterPath& heads) const {
    if (edge.points.empty() ||
        !m_visible.adjusted(-kHead, -kHead, kHead, kHead).contains(toPointF(edge.points.back())))
        return;
    const QPolygonF head = headOf(edge);
    if (head.empty()) return;
    heads.addPolygon(head);
    heads.closeSubpath();
}

/// Incoming edges are dashed and outgoing edges are solid, because color alone is not accessible to everyone.
void EdgePainter::paintHighlighted(const Edge& edge) {
    const bool in =
        m_scene.hovered == edge.to || (m_scene.hovered != edge.from && m_scene.current == edge.to);
    const QColor& color = in ? m_theme.edgeIn : m_theme.accent;
    QPen pen(color, m_plain ? 1.5 / m_zoom : kHighlightedLine);
    pen.setCapStyle(in ? Qt::FlatCap : Qt::RoundCap), pen.setJoinStyle(Qt::RoundJoin);
    m_painter.setPen(pen);
    m_painter.setBrush(Qt::NoBrush);
    if (edge.points.size() < 2) return;
    QPolygonF line;
    for (const Point& p : edge.points) line.append(toPointF(p));
    const QPolygonF head = m_plain ? QPolygonF() : headOf(edge);
    if (!head.empty()) line.back() = (head[1] + head[2]) / 2;
    if (in && !m_plain)
        paintDashes(line, color);
    else
        m_painter.drawPolyline(line);
    if (!head.empty()) {
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(color);
        m_painter.drawPolygon(head);
    }
    if (edge.reference) paintReference(edge, color);
}

/// Unlike Qt's own dashes, the start of these dashes does not depend on the visible part of the line.
void EdgePainter::paintDashes(const QPolygonF& line, const QColor& color) {
    constexpr double kDash = 6, kPeriod = 9.2;
    const QRectF around = m_visible.adjusted(-kPeriod, -kPeriod, kPeriod, kPeriod);
    QList<QLineF> slanted;
    double start = 0;  // start of the part, from the beginning of the line
    for (qsizetype p = 1; p < line.size(); ++p) {
        const QPointF a = line[p - 1], along = line[p] - a;
        const double length = std::hypot(along.x(), along.y());
        const double before = std::exchange(start, start + length);
        const auto [from, to] = seenPart(a, along, around);
        if (length <= 0 || from >= to) continue;
        const auto at = [&](double place) {
            return a + along * (std::clamp(place - before, 0.0, length) / length);
        };
        for (double dash = std::floor((before + from * length) / kPeriod) * kPeriod;
             dash < before + to * length; dash += kPeriod) {
            const QPointF first = at(dash), last = at(dash + kDash);
            if (first == last) continue;
            if (!straight(a, line[p])) {
                slanted.append(QLineF(first, last));
                continue;
            }
            // A rectangle, because its ends do not extend by half of its width.
            const QPointF across =
                along.x() == 0 ? QPointF(kHighlightedLine / 2, 0) : QPointF(0, kHighlightedLine / 2);
            m_painter.fillRect(m_grid.snapped(QRectF(first - across, last + across).normalized()), color);
        }
    }
    m_painter.drawLines(slanted);
}

/// Paints a stub with the name of the box that it comes from. Both ends are connected while one of them is
/// hovered or current.
void EdgePainter::paintReference(const Edge& edge, const QColor& color) {
    if (m_plain) return;
    const bool highlighted = isHighlighted(edge);
    const QPointF start = toPointF(edge.points.front());
    if (highlighted) {
        const QRectF from = toRectF(m_scene.picture->nodes[edge.from].box);
        m_painter.setPen(QPen(color, 1.2, Qt::DashLine));
        m_painter.drawLine(QPointF(from.center().x(), from.bottom()), start);
    }
    if (m_zoom < kTextZoom) return;
    m_painter.setPen(highlighted ? color : m_theme.muted);
    m_texts.draw(m_painter, m_grid, QString::fromStdString(m_scene.picture->nodes[edge.from].title),
                 TextCache::Face::Subtitle, kReferenceFont, QRectF(start.x() - 95, start.y() - 4, 90, 11),
                 true, Qt::ElideLeft);
}

}  // namespace quantloupe::ui
