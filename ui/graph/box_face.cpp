// SPDX-License-Identifier: Apache-2.0
#include "graph/box_face.h"

#include <algorithm>
#include <cmath>

namespace quantloupe::ui {

namespace {

constexpr qsizetype kMaxFaces = 200;
constexpr double kSheet = kSheets / 2;  ///< offset between two sheets of a group

void paintHatch(QPainter& painter, const QRectF& box, const Theme& theme) {
    QColor color = theme.inFloat;
    color.setAlphaF(0.38f);
    painter.save();
    painter.setClipRect(box.adjusted(1, 1, -1, -1), Qt::IntersectClip);
    painter.setPen(QPen(color, 1.2));
    QList<QLineF> lines;
    for (double x = box.left() - box.height(); x < box.right(); x += 6.5)
        lines.append(QLineF(x, box.bottom(), x + box.height(), box.top()));
    painter.drawLines(lines);
    painter.restore();
}

/// Clips the painter to this part of a stack; returns the outline of a box that extends beyond it.
QRectF clippedOutline(QPainter& painter, const QRectF& box, StackPart part) {
    constexpr double kBeyond = 20;
    if (part == StackPart::Whole) return box;
    const bool first = part == StackPart::Top, last = part == StackPart::Bottom;
    painter.setClipRect(box.adjusted(-3, first ? -3 : 0, 3, last ? 3 : 0), Qt::IntersectClip);
    return box.adjusted(0, first ? 0 : -kBeyond, 0, last ? 0 : kBeyond);
}

}  // namespace

QRectF heatSlot(const QRectF& box) {
    const double margin = std::min(5.0, box.height() * 0.15);
    return {box.right() - 13, box.top() + margin, 7, box.height() - 2 * margin};
}

void paintFace(QPainter& painter, const QRectF& box, const NodeLook& look, const Theme& theme) {
    const double radius = look.isRow() ? 5.0 : std::min(5.0, box.height() / 5);
    if (look.group) {
        painter.setPen(QPen(look.outline, 1));
        painter.setBrush(theme.panel);
        for (const int sheet : {2, 1, 0})
            painter.drawRoundedRect(box.translated(kSheet * sheet, kSheet * sheet), radius, radius);
    }
    painter.save();
    const QRectF whole = clippedOutline(painter, box, look.part);
    painter.setPen(Qt::NoPen);
    painter.setBrush(look.fill);
    painter.drawRoundedRect(whole, radius, radius);
    if (look.hatched) paintHatch(painter, box, theme);
    if (look.isRow())
        painter.fillRect(QRectF(box.left(), box.top(), box.width(), 1),
                         blended(look.outline, look.fill, 0.35));
    QPen pen(look.outline, 1.6);
    if (look.dashed) pen.setDashPattern({3.2, 2.0});
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(whole, radius, radius);
    painter.fillRect(whole.adjusted(0, radius * 0.5, 4.5 - whole.width(), -radius * 0.5), look.band);
    painter.restore();
    if (look.noValue && look.number.isEmpty() &&
        !look.isRow()) {  // an empty, dotted slot, because no value is not the same as zero
        painter.setPen(QPen(theme.faint, 1, Qt::DotLine));
        painter.drawRoundedRect(heatSlot(box), 1.5, 1.5);
    }
}

const FaceCache::Face& FaceCache::face(QSize pixels, double scale, const NodeLook& look, const Theme& theme) {
    if (scale != m_scale || m_faces.size() > kMaxFaces) m_faces.clear();
    m_scale = scale;
    const int flags = (look.dashed ? 1 : 0) | (look.hatched ? 2 : 0) | (look.group ? 4 : 0) |
                      (look.noValue && look.number.isEmpty() ? 8 : 0) | (theme.dark ? 16 : 0) |
                      static_cast<int>(look.part) << 5;
    const Key key{pixels, look.outline.rgba(), look.fill.rgba(), look.band.rgba(), flags};
    if (const auto known = m_faces.constFind(key); known != m_faces.constEnd()) return *known;
    Face face;
    face.margin = static_cast<int>(std::ceil((look.group ? 2 * kSheet + 2 : 2) * scale)) + 1;
    face.image = QImage(pixels + QSize(2, 2) * face.margin, QImage::Format_ARGB32_Premultiplied);
    face.image.fill(Qt::transparent);
    QPainter painter(&face.image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(face.margin, face.margin);
    painter.scale(scale, scale);
    paintFace(painter, QRectF(0, 0, pixels.width() / scale, pixels.height() / scale), look, theme);
    painter.end();
    return *m_faces.insert(key, face);
}

}  // namespace quantloupe::ui
