// SPDX-License-Identifier: Apache-2.0
#include "graph/painted_view.h"

#include <cmath>
#include <cstring>

#include "graph/device_grid.h"

namespace quantloupe::ui {

const QImage& PaintedView::frame(const PaintScene& scene, const ViewTransform& transform, QSize size,
                                 double ratio, const QColor& background) {
    ViewTransform snapped = transform;
    const auto whole = [ratio](double place) { return std::round(place * ratio) / ratio; };
    snapped.offset = {whole(transform.offset.x()), whole(transform.offset.y())};
    const QSize pixels = (QSizeF(size) * ratio).toSize().expandedTo({1, 1});
    if (m_image.size() != pixels || m_ratio != ratio) {
        m_image = QImage();
        m_canvas = QImage(pixels + 2 * QSize(kMargin, kMargin), QImage::Format_RGB32);
        m_image = QImage(m_canvas.bits() + kMargin * m_canvas.bytesPerLine() + qsizetype{4} * kMargin,
                         pixels.width(), pixels.height(), m_canvas.bytesPerLine(), QImage::Format_RGB32);
        m_image.setDevicePixelRatio(ratio);
        m_ratio = ratio;
        m_known = false;
    }
    const QRect all({}, pixels);
    const QPointF moved = (snapped.offset - m_transform.offset) * ratio;
    const bool near = std::abs(moved.x()) < pixels.width() && std::abs(moved.y()) < pixels.height();
    const bool pans = m_known && snapped.zoom == m_transform.zoom && near;
    m_transform = snapped;
    m_known = true;
    if (!pans) {
        paintPart(scene, all, background);
        return m_image;
    }
    const int dx = static_cast<int>(std::lround(moved.x())), dy = static_cast<int>(std::lround(moved.y()));
    if (dx == 0 && dy == 0) return m_image;
    scroll(dx, dy);
    const int width = pixels.width(), height = pixels.height();
    if (dy != 0)
        paintPart(scene, dy > 0 ? QRect(0, 0, width, dy) : QRect(0, height + dy, width, -dy), background);
    if (dx != 0)
        paintPart(scene,
                  dx > 0 ? QRect(0, std::max(0, dy), dx, height - std::abs(dy))
                         : QRect(width + dx, std::max(0, dy), -dx, height - std::abs(dy)),
                  background);
    return m_image;
}

void PaintedView::paintPart(const PaintScene& scene, const QRect& pixels, const QColor& background) {
    // In device pixels, which the painter of an image with a device pixel ratio would hide.
    QPainter painter(&m_canvas);
    const double margin = kMargin / m_ratio;
    painter.scale(m_ratio, m_ratio);
    painter.translate(margin, margin);
    const QRectF part(QPointF(pixels.topLeft()) / m_ratio, QSizeF(pixels.size()) / m_ratio);
    painter.setClipRect(part);
    painter.fillRect(part, background);
    ViewTransform aside = m_transform;
    aside.offset += QPointF(DeviceGrid::kAside, DeviceGrid::kAside) / m_ratio;
    paintScene(painter, scene, aside, part);
}

/// Moves the rows in an order in which no row is overwritten before it is moved.
void PaintedView::scroll(int dx, int dy) {
    const int width = m_image.width(), height = m_image.height();
    const qsizetype stride = m_canvas.bytesPerLine();
    uchar* bits = m_canvas.bits() + kMargin * stride + qsizetype{4} * kMargin;
    const auto count = static_cast<std::size_t>(width - std::abs(dx)) * 4;
    const qsizetype from = dx < 0 ? -dx * 4 : 0, to = dx > 0 ? dx * 4 : 0;
    for (int i = 0; i < height - std::abs(dy); ++i) {
        const int row = dy > 0 ? height - 1 - i : i;
        std::memmove(bits + row * stride + to, bits + (row - dy) * stride + from, count);
    }
}

}  // namespace quantloupe::ui
