// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_painter.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "graph/box_face.h"
#include "graph/box_text_painter.h"
#include "graph/edge_painter.h"

namespace quantloupe::ui {

namespace {

bool flagged(const std::vector<bool>& flags, std::size_t i) { return i < flags.size() && flags[i]; }

class ScenePainter {
  public:
    ScenePainter(QPainter& painter, const PaintScene& scene, PaintCache& cache,
                 const ViewTransform& transform, const QRectF& view)
        : m_painter(painter),
          m_scene(scene),
          m_cache(cache),
          m_texts(cache.texts),
          m_theme(*scene.theme),
          m_grid(painter),
          m_zoom(transform.zoom),
          m_visible(transform.toScene(view)),
          m_plain(m_zoom < kPlainZoom) {}

    void paint() {
        m_painter.setRenderHint(QPainter::Antialiasing, !m_plain);
        paintFrames();
        EdgePainter(m_painter, m_scene, m_texts, m_visible, m_zoom).paint();
        const auto nodes = m_scene.index->nodesIn(m_visible.adjusted(-10, -10, 10, 10));
        const double reach = 10 + 8 / m_zoom;  // for halos, which keep their width when zoomed out
        const double above = reach + m_scene.index->tallestRows();
        for (const std::size_t i : m_scene.index->nodesIn(m_visible.adjusted(-reach, -above, reach, reach)))
            if (marked(i) && !m_scene.picture->nodes[i].isRow())
                paintHalo(i, withSheets(m_scene.picture->nodes[i]));
        if (m_zoom >= kTextZoom) paintFrameNames();
        if (m_plain)
            paintPlain(nodes);
        else
            paintNodes(nodes);
    }

  private:
    bool marked(std::size_t i) const {
        return flagged(m_scene.selected, i) || m_scene.hovered == i || flagged(m_scene.previewed, i);
    }

    QColor frameColor() const {
        return m_theme.dark ? blended(Qt::white, m_theme.canvas, 0.027)
                            : blended(QColor(30, 50, 80), m_theme.canvas, 0.031);
    }

    void paintFrames() {
        const QColor color = frameColor();
        const double radius = m_grid.length(7), width = m_grid.penWidth(1);
        for (const PictureFrame& frame : m_scene.picture->frames) {
            const QRectF box = m_plain ? toRectF(frame.box) : m_grid.outlined(toRectF(frame.box), width);
            if (!box.intersects(m_visible)) continue;
            m_painter.setPen(QPen(m_theme.border, m_plain ? 0 : width));
            if (m_plain) {
                m_painter.fillRect(box, color);
                m_painter.setBrush(Qt::NoBrush);
                m_painter.drawRect(box);
                continue;
            }
            // A large block fills the view, and a path would be clipped line by line, which is slow.
            const QRectF seen =
                box.intersected(m_visible.adjusted(-2 * radius, -2 * radius, 2 * radius, 2 * radius));
            const QRectF inner = seen.adjusted(0, radius, 0, -radius);
            m_painter.setBrush(color);
            if (inner.height() > 4 * radius) {
                m_painter.setRenderHint(QPainter::Antialiasing, false);
                m_painter.fillRect(m_grid.snapped(inner), color);
                m_painter.setRenderHint(QPainter::Antialiasing);
                paintEnds(seen, inner, radius);
            } else {
                m_painter.drawRoundedRect(seen, radius, radius);
            }
        }
    }

    /// The border of a tall rounded rectangle, and its rounded parts.
    void paintEnds(const QRectF& box, const QRectF& inner, double radius) {
        m_painter.drawLine(inner.topLeft(), inner.bottomLeft());
        m_painter.drawLine(inner.topRight(), inner.bottomRight());
        QPainterPath top(inner.topLeft());
        top.arcTo(QRectF(box.left(), box.top(), 2 * radius, 2 * radius), 180, -90);
        top.arcTo(QRectF(box.right() - 2 * radius, box.top(), 2 * radius, 2 * radius), 90, -90);
        m_painter.drawPath(top);
        QPainterPath bottom(inner.bottomLeft());
        bottom.arcTo(QRectF(box.left(), box.bottom() - 2 * radius, 2 * radius, 2 * radius), 180, 90);
        bottom.arcTo(QRectF(box.right() - 2 * radius, box.bottom() - 2 * radius, 2 * radius, 2 * radius), 270,
                     90);
        m_painter.drawPath(bottom);
    }

    /// Painted over the halos of the boxes below, which must not cross the text.
    void paintFrameNames() {
        constexpr double kPixels = 9.5;
        m_painter.setPen(m_theme.muted);
        for (const PictureFrame& frame : m_scene.picture->frames) {
            const QRectF line = frameNameRect(frame);
            if (!line.intersects(m_visible)) continue;
            const QString name = QString::fromStdString(groupTitle(m_scene.picture->groups[frame.group]));
            const double width =
                m_texts.shaped(name, TextCache::Face::Subtitle, kPixels, line.width(), Qt::ElideLeft).width;
            m_painter.fillRect(
                m_grid.snapped(QRectF(line.left() - 2, line.top() + 1, width + 4, line.height())),
                frameColor());
            m_texts.draw(m_painter, m_grid, name, TextCache::Face::Subtitle, kPixels, line, false,
                         Qt::ElideLeft);
        }
    }

    NodeLook lookAt(std::size_t i) const {
        NodeLook look = (*m_scene.looks)[i];
        if (flagged(m_scene.previewed, i)) {  // shows the previewed state; the band keeps the current state
            look.fill = m_theme.inFloatFill;
            look.outline = m_theme.inFloat;
            look.dashed = true;
        }
        return look;
    }

    /// If boxes are smaller than a pixel, one box per pixel is sufficient; selected and hovered boxes are
    /// always drawn.
    void paintPlain(const std::vector<std::size_t>& nodes) {
        const bool tiny =
            !nodes.empty() && m_scene.picture->nodes[nodes.front()].box.height * m_grid.scale() < 0.7;
        QPoint last(-1, -1);
        for (const std::size_t i : nodes) {
            const QRectF box = toRectF(m_scene.picture->nodes[i].box);
            if (tiny && !flagged(m_scene.selected, i) && !flagged(m_scene.previewed, i)) {
                const QPoint pixel(static_cast<int>(std::floor(m_grid.x(box.left()))),
                                   static_cast<int>(std::floor(m_grid.y(box.top()))));
                if (pixel == last) continue;
                last = pixel;
            }
            const NodeLook& look = (*m_scene.looks)[i];
            const NodeLook& hot = heatLook(*m_scene.picture, *m_scene.looks, i);
            const QRectF shown = m_grid.snapped(box);
            m_painter.fillRect(shown, flagged(m_scene.previewed, i) ? m_theme.inFloat : look.outline);
            if (hot.heat >= 0)
                m_painter.fillRect(shown.adjusted(shown.width() * kHeatFrom, 0, 0, 0), hot.heatColor);
            if (look.isRow() && marked(i)) paintRowMark(i, shown);
        }
    }

    /// Paints faces first, then fills, then texts, because each needs different settings of the painter.
    void paintNodes(const std::vector<std::size_t>& nodes) {
        std::vector<NodeLook> looks;
        looks.reserve(nodes.size());
        for (const std::size_t i : nodes) looks.push_back(lookAt(i));
        const auto boxOf = [&](std::size_t i) { return toRectF(m_scene.picture->nodes[i].box); };
        paintFaces(nodes, looks);
        m_painter.setRenderHint(QPainter::Antialiasing, !m_grid.pixels());
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (m_zoom < kTextZoom)
                paintHeatBlock(boxOf(nodes[k]), looks[k],
                               heatLook(*m_scene.picture, *m_scene.looks, nodes[k]));
            else
                paintHeat(boxOf(nodes[k]), looks[k]);
            if (looks[k].group) paintParts(boxOf(nodes[k]), looks[k]);
            if (looks[k].isRow() && marked(nodes[k])) paintRowMark(nodes[k], boxOf(nodes[k]));
        }
        m_painter.setRenderHint(QPainter::Antialiasing);
        if (m_zoom < kTextZoom) return;
        BoxTextPainter texts(m_painter, m_scene, m_texts, m_grid, m_zoom);
        for (std::size_t k = 0; k < nodes.size(); ++k) texts.paint(nodes[k], looks[k], boxOf(nodes[k]));
    }

    void paintFaces(const std::vector<std::size_t>& nodes, const std::vector<NodeLook>& looks) {
        m_painter.setWorldMatrixEnabled(false);
        const QTransform rest = m_painter.deviceTransform();
        const bool copies = m_grid.pixels() && rest.type() <= QTransform::TxTranslate;
        m_painter.setWorldMatrixEnabled(true);
        if (!copies) {
            for (std::size_t k = 0; k < nodes.size(); ++k)
                paintFace(m_painter, toRectF(m_scene.picture->nodes[nodes[k]].box), looks[k], m_theme);
            return;
        }
        m_painter.setWorldMatrixEnabled(false);
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const QRect pixels = m_grid.pixelsOf(toRectF(m_scene.picture->nodes[nodes[k]].box));
            const FaceCache::Face& face =
                m_cache.faces.face(pixels.size(), m_grid.scale(), looks[k], m_theme);
            m_painter.drawImage(pixels.topLeft() - QPointF(face.margin + rest.dx(), face.margin + rest.dy()),
                                face.image);
        }
        m_painter.setWorldMatrixEnabled(true);
    }

    /// The stack that starts with the box. A group's sheets would hide half of its halo.
    static QRectF withSheets(const PictureNode& node) {
        return toRectF(node.stack())
            .adjusted(0, 0, node.kind == PictureNode::Kind::Group ? kSheets : 0,
                      node.kind == PictureNode::Kind::Group ? kSheets : 0);
    }

    void paintHalo(std::size_t i, const QRectF& box) {
        const bool selected = flagged(m_scene.selected, i);
        const QColor color = haloColor(i);
        const double width = m_grid.penWidth(std::max(selected ? 2.2 : 1.4, (m_plain ? 2.0 : 1.0) / m_zoom));
        const double gap = 2 + width;
        const auto around = [&](double out) {
            const double radius = m_grid.length(5 + out);
            m_painter.drawRoundedRect(m_grid.outlined(box.adjusted(-out, -out, out, out), width), radius,
                                      radius);
        };
        QPen pen(color, width);
        if (!selected && flagged(m_scene.previewed, i)) pen.setStyle(Qt::DashLine);
        m_painter.setPen(pen);
        QColor fill = color;
        fill.setAlpha(m_scene.current == i ? 60 : selected ? 30 : 0);
        m_painter.setBrush(fill);
        around(gap);
        if (!selected || !flagged(m_scene.previewed, i)) return;
        m_painter.setPen(QPen(m_theme.inFloat, width, Qt::DashLine));
        m_painter.setBrush(Qt::NoBrush);
        around(gap + 2 * width);
    }

    QColor haloColor(std::size_t i) const {
        return flagged(m_scene.selected, i)    ? m_theme.accent
               : flagged(m_scene.previewed, i) ? m_theme.inFloat
                                               : m_theme.edge;
    }

    /// A row has boxes above and below it, so its halo is inside.
    void paintRowMark(std::size_t i, const QRectF& box) {
        const QColor color = haloColor(i);
        const double width = m_grid.penWidth(std::max(1.6, 1.4 / m_zoom));
        QColor fill = color;
        fill.setAlpha(m_scene.current == i ? 60 : 30);
        const QRectF rect = m_grid.snapped(box);
        m_painter.fillRect(rect, fill);
        m_painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), width), color);
        m_painter.fillRect(QRectF(rect.left(), rect.bottom() - width, rect.width(), width), color);
        m_painter.fillRect(QRectF(rect.left(), rect.top(), width, rect.height()), color);
        m_painter.fillRect(QRectF(rect.right() - width, rect.top(), width, rect.height()), color);
    }

    /// Paints the states of a group's layers as parts of its lower edge.
    void paintParts(const QRectF& box, const NodeLook& look) {
        const QColor colors[] = {m_theme.quantized, m_theme.inFloat, m_theme.inFloat.lighter(125),
                                 m_theme.folded};
        double x = box.left() + 13;
        const double width = box.width() - 13 - 16;
        for (std::size_t i = 0; i < look.parts.size(); ++i) {
            if (look.parts[i] <= 0) continue;
            m_painter.fillRect(m_grid.snapped(QRectF(x, box.bottom() - 4.5, width * look.parts[i], 2)),
                               colors[i]);
            x += width * look.parts[i];
        }
    }

    QColor heatOf(const NodeLook& look) const {
        QColor color = look.heatColor;
        if (m_scene.faded) color.setAlpha(120);
        return color;
    }

    /// Painted instead of text that would be too small to read; extends through a whole stack.
    void paintHeatBlock(const QRectF& box, const NodeLook& look, const NodeLook& hot) {
        if (hot.heat < 0) return;
        const bool first = look.part == StackPart::Whole || look.part == StackPart::Top;
        const bool last = look.part == StackPart::Whole || look.part == StackPart::Bottom;
        m_painter.fillRect(
            m_grid.snapped(box.adjusted(box.width() * kHeatFrom, first ? 4 : 0, -5, last ? -4 : 0)),
            heatOf(hot));
    }

    void paintHeat(const QRectF& box, const NodeLook& look) {
        if (look.heat < 0) return;
        QRectF bar = heatSlot(box);
        const double line = m_grid.penWidth(1);
        m_painter.fillRect(m_grid.snapped(bar), m_theme.faint);  // a pale bar needs a border
        bar.adjust(line, line, -line, -line);
        m_painter.fillRect(m_grid.snapped(bar), m_theme.panel);
        bar.setTop(bar.bottom() - std::max(2.5, bar.height() * look.heat));
        m_painter.fillRect(m_grid.snapped(bar), heatOf(look));
    }

    QPainter& m_painter;
    const PaintScene& m_scene;
    PaintCache& m_cache;
    TextCache& m_texts;
    const Theme& m_theme;
    DeviceGrid m_grid;
    double m_zoom;
    QRectF m_visible;
    bool m_plain;
};

}  // namespace

QRectF frameNameRect(const PictureFrame& frame) {
    return {frame.box.x + 7, frame.box.y - 0.5, frame.box.width / 2 - 18, 11};
}

void paintScene(QPainter& painter, const PaintScene& scene, const ViewTransform& transform,
                const QRectF& view) {
    if (!scene.picture || !scene.index || !scene.looks || scene.looks->size() != scene.picture->nodes.size())
        return;
    painter.save();
    painter.translate(transform.offset);
    painter.scale(transform.zoom, transform.zoom);
    PaintCache own;
    PaintCache& cache = scene.cache ? *scene.cache : own;
    cache.texts.setFont(scene.font);
    ScenePainter(painter, scene, cache, transform, view).paint();
    painter.restore();
}

}  // namespace quantloupe::ui
