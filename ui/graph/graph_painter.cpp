// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_painter.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace quantloupe::ui {

namespace {

QFont pixelFont(const QFont& base, double pixels, QFont::Weight weight) {
    QFont font = base;
    font.setPixelSize(std::max(1, static_cast<int>(std::lround(pixels))));
    font.setWeight(weight);
    font.setHintingPreference(QFont::PreferNoHinting);  // widths must not change with the zoom
    return font;
}

bool flagged(const std::vector<bool>& flags, std::size_t i) { return i < flags.size() && flags[i]; }

constexpr double kLine = 1.2;  ///< of edges
constexpr double kHead = 6;    ///< of arrows

class ScenePainter {
  public:
    ScenePainter(QPainter& painter, const PaintScene& scene, const ViewTransform& transform,
                 const QRectF& view)
        : m_painter(painter),
          m_scene(scene),
          m_theme(*scene.theme),
          m_zoom(transform.zoom),
          m_visible(transform.toScene(view)) {}

    void paint() {
        m_plain = m_zoom < kPlainZoom;
        m_painter.setRenderHint(QPainter::Antialiasing, !m_plain);
        paintFrames();
        paintEdges();
        const auto nodes = m_scene.index->nodesIn(m_visible.adjusted(-10, -10, 10, 10));
        // Where a box is smaller than a pixel, one box a pixel is enough; what is looked at is drawn anyway.
        const bool tiny = m_plain && !nodes.empty() && m_scene.picture->nodes[nodes.front()].box.height * m_zoom < 0.7;
        QPoint last(-1, -1);
        for (const std::size_t i : nodes) {
            if (tiny && !flagged(m_scene.selected, i) && !flagged(m_scene.previewed, i)) {
                const QPoint pixel = (toRectF(m_scene.picture->nodes[i].box).topLeft() * m_zoom).toPoint();
                if (pixel == last) continue;
                last = pixel;
            }
            paintNode(i);
        }
    }

  private:
    void paintFrames() {
        if (m_scene.picture->frames.empty()) return;
        const QFont font = pixelFont(m_scene.font, 9.5, QFont::Normal);
        m_painter.setFont(font);
        const QFontMetricsF metrics(font);
        for (const PictureFrame& frame : m_scene.picture->frames) {
            const QRectF box = toRectF(frame.box);
            if (!box.intersects(m_visible)) continue;
            m_painter.setPen(QPen(m_theme.border, m_plain ? 0 : 1));
            m_painter.setBrush(m_theme.dark ? QColor(255, 255, 255, 7) : QColor(30, 50, 80, 8));
            m_painter.drawRoundedRect(box, 7, 7);
            if (m_zoom < kTextZoom) continue;
            const QRectF line = frameNameRect(frame);
            m_painter.setPen(m_theme.muted);
            const QString name = QString::fromStdString(groupTitle(m_scene.picture->groups[frame.group]));
            m_painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(name, Qt::ElideLeft, line.width()));
        }
    }

    bool touches(const PictureEdge& edge, std::optional<std::size_t> node) const {
        return node && (edge.from == *node || edge.to == *node);
    }

    void paintEdges() {
        const auto& edges = m_scene.picture->edges;
        const auto visible = m_scene.index->edgesIn(m_visible);
        std::vector<std::size_t> loud;
        QList<QLineF> slanted;
        QList<QRectF> straight;
        for (const std::size_t i : visible) {
            if (touches(edges[i], m_scene.hovered) || touches(edges[i], m_scene.current))
                loud.push_back(i);
            else if (m_plain)
                addPlain(edges[i], slanted);
            else
                addSegments(edges[i], slanted, straight);
        }
        QColor quiet = m_theme.edge;
        if (m_plain) quiet.setAlpha(m_zoom < 0.08 ? 70 : 130);  // where lines lie close they must not hide the boxes
        QPen quietPen(quiet, m_plain ? 0 : kLine);
        quietPen.setCapStyle(Qt::FlatCap);
        m_painter.setPen(quietPen);
        m_painter.drawLines(slanted);
        for (const QRectF& line : straight) m_painter.fillRect(line, quiet);
        if (!m_plain)
            for (const std::size_t i : visible)
                if (!touches(edges[i], m_scene.hovered) && !touches(edges[i], m_scene.current)) paintTip(edges[i], quiet);
        // What comes in is dashed and what goes out is solid: colour alone would not tell everyone.
        for (const std::size_t i : loud) {
            const bool in = m_scene.hovered == edges[i].to || (m_scene.hovered != edges[i].from && m_scene.current == edges[i].to);
            const QColor& color = in ? m_theme.edgeIn : m_theme.accent;
            QPen pen(color, m_plain ? 1.5 / m_zoom : 2);
            pen.setCapStyle(in ? Qt::FlatCap : Qt::RoundCap), pen.setJoinStyle(Qt::RoundJoin);
            if (in && !m_plain) pen.setDashPattern({3, 1.6});
            m_painter.setPen(pen);
            paintEdge(edges[i], color);
        }
    }

    /// A stub with the name of the box that it comes from; both ends are joined while one of them is looked at.
    void paintReference(const PictureEdge& edge, const QColor& color) {
        if (m_plain) return;
        const bool looked = touches(edge, m_scene.hovered) || touches(edge, m_scene.current);
        if (looked) {
            const QRectF from = toRectF(m_scene.picture->nodes[edge.from].box);
            m_painter.save();
            m_painter.setPen(QPen(color, 1.2, Qt::DashLine));
            m_painter.drawLine(QPointF(from.center().x(), from.bottom()), QPointF(edge.points.front().x, edge.points.front().y));
            m_painter.restore();
        }
        if (m_zoom < kTextZoom) return;
        const QFont font = pixelFont(m_scene.font, 8.5, QFont::Normal);
        const QFontMetricsF metrics(font);
        const QString name = metrics.elidedText(QString::fromStdString(m_scene.picture->nodes[edge.from].title), Qt::ElideLeft, 90);
        const QPointF tip(edge.points.front().x, edge.points.front().y);
        m_painter.save();
        m_painter.setFont(font);
        m_painter.setPen(looked ? color : m_theme.muted);
        m_painter.drawText(QRectF(tip.x() - 100, tip.y() - 4, 95, 11), Qt::AlignRight | Qt::AlignVCenter, name);
        m_painter.restore();
    }

    /// Long edges are many screens long: only their visible segments are drawn, and those along an axis as rectangles,
    /// which the raster engine fills some ten times as fast as it strokes lines.
    void addSegments(const PictureEdge& edge, QList<QLineF>& slanted, QList<QRectF>& straight) const {
        for (std::size_t p = 1; p < edge.points.size(); ++p) {
            const QPointF a(edge.points[p - 1].x, edge.points[p - 1].y), b(edge.points[p].x, edge.points[p].y);
            const QRectF around = QRectF(a, b).normalized().adjusted(-kLine / 2, -kLine / 2, kLine / 2, kLine / 2);
            if (!around.intersects(m_visible)) continue;
            if (a.x() == b.x() || a.y() == b.y())
                straight.append(around.intersected(m_visible.adjusted(-4, -4, 4, 4)));
            else
                slanted.append(QLineF(a, b));
        }
    }

    /// From afar: nothing that is shorter than two pixels, nor what lies outside.
    void addPlain(const PictureEdge& edge, QList<QLineF>& lines) const {
        for (std::size_t p = 1; p < edge.points.size(); ++p) {
            const QPointF a(edge.points[p - 1].x, edge.points[p - 1].y), b(edge.points[p].x, edge.points[p].y);
            if ((std::abs(a.x() - b.x()) + std::abs(a.y() - b.y())) * m_zoom < 2) continue;
            if (QRectF(a, b).normalized().adjusted(-1, -1, 1, 1).intersects(m_visible)) lines.append(QLineF(a, b));
        }
    }

    /// The arrow head.
    void paintTip(const PictureEdge& edge, const QColor& color) {
        if (edge.reference) paintReference(edge, color);
        const std::size_t count = edge.points.size();
        if (count < 2) return;
        const QPointF tip(edge.points[count - 1].x, edge.points[count - 1].y);
        if (!m_visible.adjusted(-kHead, -kHead, kHead, kHead).contains(tip)) return;
        const QPointF along = tip - QPointF(edge.points[count - 2].x, edge.points[count - 2].y);
        const double length = std::hypot(along.x(), along.y());
        if (length < 0.01) return;
        const QPointF unit = along / length, base = tip - unit * std::min(kHead, length);
        const QPointF side(-unit.y() * kHead * 0.45, unit.x() * kHead * 0.45);
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(color);
        m_painter.drawPolygon(QPolygonF{tip, base + side, base - side});
    }

    void paintEdge(const PictureEdge& edge, const QColor& color) {
        const std::size_t count = edge.points.size();
        if (count < 2) return;
        if (edge.reference) paintReference(edge, color);
        QPolygonF line;
        line.reserve(static_cast<qsizetype>(count));
        for (const Point& p : edge.points) line.append(QPointF(p.x, p.y));
        m_painter.setBrush(Qt::NoBrush);
        if (m_plain) {
            m_painter.drawPolyline(line);
            return;
        }
        const QPointF tip = line.back();
        const QPointF along = tip - line[line.size() - 2];
        const double length = std::hypot(along.x(), along.y());
        if (length < 0.01) {
            m_painter.drawPolyline(line);
            return;
        }
        const QPointF unit = along / length;
        const QPointF base = tip - unit * std::min(kHead, length);
        line.back() = base;
        m_painter.drawPolyline(line);
        const QPointF side(-unit.y() * kHead * 0.45, unit.x() * kHead * 0.45);
        const QPen pen = m_painter.pen();
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(color);
        m_painter.drawPolygon(QPolygonF{tip, base + side, base - side});
        m_painter.setPen(pen);
    }

    void paintNode(std::size_t i) {
        const PictureNode& node = m_scene.picture->nodes[i];
        NodeLook look = (*m_scene.looks)[i];
        const QRectF box = toRectF(node.box);
        if (flagged(m_scene.previewed, i)) {  // as it would look; the state it has keeps the band
            look.fill = m_theme.inFloatFill;
            look.outline = m_theme.inFloat;
            look.dashed = true;
        }
        if (flagged(m_scene.selected, i) || m_scene.hovered == i || flagged(m_scene.previewed, i))
            paintHalo(i, box);
        if (m_plain) {
            paintPlain(box, look);
            return;
        }
        const double radius = std::min(5.0, box.height() / 5);
        if (look.group) paintStack(box, look, radius);
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(look.fill);
        m_painter.drawRoundedRect(box, radius, radius);
        if (look.hatched) paintHatch(box, look);
        QPen pen(look.outline, 1.6);
        if (look.dashed) pen.setDashPattern({3.2, 2.0});
        m_painter.setPen(pen);
        m_painter.setBrush(Qt::NoBrush);
        m_painter.drawRoundedRect(box, radius, radius);
        const QRectF band(box.left(), box.top() + radius * 0.5, 4.5, box.height() - radius);
        m_painter.fillRect(band, look.band);
        paintHeat(box, look);
        if (look.group) paintParts(box, look);
        if (m_zoom >= kTextZoom) paintText(node, look, box);
    }

    void paintHalo(std::size_t i, const QRectF& box) {
        const bool selected = flagged(m_scene.selected, i);
        const QColor color = selected                        ? m_theme.accent
                             : flagged(m_scene.previewed, i) ? m_theme.inFloat
                                                             : m_theme.edge;
        const double width = std::max(selected ? 2.2 : 1.4, (m_plain ? 2.0 : 1.0) / m_zoom);
        const double gap = 2 + width;
        QPen pen(color, width);
        if (!selected && flagged(m_scene.previewed, i)) pen.setStyle(Qt::DashLine);
        m_painter.setPen(pen);
        QColor fill = color;
        fill.setAlpha(m_scene.current == i ? 60 : selected ? 30 : 0);
        m_painter.setBrush(fill);
        m_painter.drawRoundedRect(box.adjusted(-gap, -gap, gap, gap), 5 + gap, 5 + gap);
        if (!selected || !flagged(m_scene.previewed, i)) return;
        const double out = gap + 2 * width;
        m_painter.setPen(QPen(m_theme.inFloat, width, Qt::DashLine));
        m_painter.setBrush(Qt::NoBrush);
        m_painter.drawRoundedRect(box.adjusted(-out, -out, out, out), 5 + out, 5 + out);
    }

    void paintPlain(const QRectF& box, const NodeLook& look) {
        m_painter.fillRect(box, look.outline);
        if (look.heat >= 0) {
            QRectF heat = box;
            heat.setLeft(box.left() + box.width() * 0.4);
            m_painter.fillRect(heat, look.heatColor);
        }
    }

    void paintHatch(const QRectF& box, const NodeLook& look) {
        QColor color = look.outline.isValid() ? m_theme.inFloat : look.outline;
        color.setAlphaF(0.38f);
        m_painter.save();
        m_painter.setClipRect(box.adjusted(1, 1, -1, -1), Qt::IntersectClip);
        m_painter.setPen(QPen(color, 1.2));
        QList<QLineF> lines;
        for (double x = box.left() - box.height(); x < box.right(); x += 6.5)
            lines.append(QLineF(x, box.bottom(), x + box.height(), box.top()));
        m_painter.drawLines(lines);
        m_painter.restore();
    }

    /// Two sheets behind a collapsed group.
    void paintStack(const QRectF& box, const NodeLook& look, double radius) {
        m_painter.setPen(QPen(look.outline, 1));
        m_painter.setBrush(m_theme.panel);
        for (const double aside : {6.0, 3.0}) m_painter.drawRoundedRect(box.translated(aside, aside), radius, radius);
        m_painter.setBrush(m_theme.panel);
        m_painter.drawRoundedRect(box, radius, radius);
    }

    /// The states of a group's layers, as shares of its lower rim.
    void paintParts(const QRectF& box, const NodeLook& look) {
        const QColor colors[] = {m_theme.quantized, m_theme.inFloat, m_theme.inFloat.lighter(125), m_theme.folded};
        double x = box.left() + 13;
        const double width = box.width() - 13 - 16;
        for (std::size_t i = 0; i < look.parts.size(); ++i) {
            if (look.parts[i] <= 0) continue;
            m_painter.fillRect(QRectF(x, box.bottom() - 4.5, width * look.parts[i], 2), colors[i]);
            x += width * look.parts[i];
        }
    }

    void paintHeat(const QRectF& box, const NodeLook& look) {
        if (m_zoom < kTextZoom) {  // in the place of the text that cannot be read
            if (look.heat < 0) return;
            QColor color = look.heatColor;
            if (m_scene.faded) color.setAlpha(120);
            m_painter.fillRect(QRectF(box.left() + box.width() * 0.45, box.top() + 4, box.width() * 0.55 - 5, box.height() - 8), color);
            return;
        }
        const double width = 4, margin = 6;
        QRectF bar(box.right() - margin - width, box.top() + 5, width, box.height() - 10);
        if (look.noValue && look.number.isEmpty()) {  // an empty, dotted slot: nothing is not the same as zero
            m_painter.setPen(QPen(m_theme.faint, 1, Qt::DotLine));
            m_painter.setBrush(Qt::NoBrush);
            m_painter.drawRoundedRect(bar, 1.5, 1.5);
        }
        if (look.heat < 0) return;
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(m_theme.dark ? QColor(255, 255, 255, 28) : QColor(20, 30, 40, 22));
        m_painter.drawRoundedRect(bar, 1.5, 1.5);
        bar.setTop(bar.bottom() - std::max(2.5, bar.height() * look.heat));
        QColor color = look.heatColor;
        if (m_scene.faded) color.setAlpha(120);
        m_painter.setBrush(color);
        m_painter.drawRoundedRect(bar, 1.5, 1.5);
    }

    void paintText(const PictureNode& node, const NodeLook& look, const QRectF& box) {
        const QFont title = titleFont(m_scene.font, box.height());
        const QFont subtitle = subtitleFont(m_scene.font, box.height());
        const QFont numbers = numberFont(title);
        const double left = box.left() + 13;
        double right = box.right() - 15;
        const double middle = box.top() + box.height() * 0.5;
        // Lines that touch no text are cheap; boxes below the font's legibility are not reached.
        if (!look.number.isEmpty()) {
            const bool word = look.heat < 0;
            const QFont& font = word ? subtitle : numbers;
            m_painter.setFont(font);
            m_painter.setPen(look.quiet || m_scene.faded ? m_theme.muted : m_theme.text);
            const QRectF line(left, box.top(), right - left, middle - box.top() + 2);
            m_painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, look.number);
            right -= QFontMetricsF(font).horizontalAdvance(look.number) + 7;
        }
        m_painter.setFont(title);
        m_painter.setPen(m_theme.text);
        const QFontMetricsF titleMetrics(title);
        m_painter.drawText(
            QRectF(left, box.top(), right - left, middle - box.top() + 2), Qt::AlignLeft | Qt::AlignVCenter,
            titleMetrics.elidedText(QString::fromStdString(node.title), Qt::ElideRight, right - left));
        m_painter.setFont(subtitle);
        m_painter.setPen(m_theme.muted);
        const double width = box.right() - 16 - left;
        m_painter.drawText(
            QRectF(left, middle - (look.group ? 2 : 0), width, box.bottom() - middle - 3 - (look.group ? 2 : 0)), Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetricsF(subtitle).elidedText(QString::fromStdString(node.subtitle), Qt::ElideLeft, width));
    }

    QPainter& m_painter;
    const PaintScene& m_scene;
    const Theme& m_theme;
    double m_zoom;
    QRectF m_visible;
    bool m_plain = false;
};

}  // namespace

QRectF frameNameRect(const PictureFrame& frame) {
    return {frame.box.x + 7, frame.box.y + 0.5, frame.box.width / 2 - 18, 13};
}

QFont titleFont(const QFont& base, double boxHeight) {
    return pixelFont(base, boxHeight * 0.315, QFont::DemiBold);
}
QFont subtitleFont(const QFont& base, double boxHeight) {
    return pixelFont(base, boxHeight * 0.255, QFont::Normal);
}

void paintScene(QPainter& painter, const PaintScene& scene, const ViewTransform& transform,
                const QRectF& view) {
    if (!scene.picture || !scene.index || !scene.looks || scene.looks->size() != scene.picture->nodes.size())
        return;
    painter.save();
    painter.translate(transform.offset);
    painter.scale(transform.zoom, transform.zoom);
    ScenePainter(painter, scene, transform, view).paint();
    painter.restore();
}

}  // namespace quantloupe::ui
