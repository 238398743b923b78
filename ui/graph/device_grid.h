// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pixel grid of the paint device in scene coordinates. Rectangles on whole pixels are crisp and can be
// filled without antialiasing, which is about ten times as fast. On a PDF page, nothing is moved.

#include <QPaintEngine>
#include <QPainter>
#include <QRect>
#include <algorithm>
#include <cmath>

namespace quantloupe::ui {

class DeviceGrid {
  public:
    /// A small offset, in pixels, that is added to all positions. Many positions are whole pixels or 64ths of
    /// a pixel, which is where the rasterizer rounds, so floating-point noise could round them either way.
    /// With the offset, the result does not depend on the noise.
    static constexpr double kAside = 0.0013;

    explicit DeviceGrid(const QPainter& painter) {
        const QTransform device = painter.deviceTransform();
        m_scale = device.m11();
        m_x = device.dx(), m_y = device.dy();
        m_pixels = painter.paintEngine() && painter.paintEngine()->type() == QPaintEngine::Raster;
    }
    bool pixels() const { return m_pixels; }
    double scale() const { return m_scale; }  ///< pixels per scene unit
    double x(double scene) const { return scene * m_scale + m_x; }
    double y(double scene) const { return scene * m_scale + m_y; }
    /// Converts a rectangle from pixels to the scene.
    QRectF scene(double left, double top, double width, double height) const {
        return {(left + kAside - m_x) / m_scale, (top + kAside - m_y) / m_scale, width / m_scale,
                height / m_scale};
    }
    /// Returns an axis-parallel line from a to b as a rectangle that is a whole number of pixels wide.
    QRectF line(QPointF a, QPointF b, double sceneWidth) const {
        if (!m_pixels)
            return QRectF(a, b).normalized().adjusted(-sceneWidth / 2, -sceneWidth / 2, sceneWidth / 2,
                                                      sceneWidth / 2);
        const double width = std::max(1.0, std::round(sceneWidth * m_scale));
        const double left = std::round(x(std::min(a.x(), b.x())) - width / 2),
                     top = std::round(y(std::min(a.y(), b.y())) - width / 2);
        const double right = std::round(x(std::max(a.x(), b.x())) - width / 2) + width;
        const double bottom = std::round(y(std::max(a.y(), b.y())) - width / 2) + width;
        return scene(left, top, right - left, bottom - top);
    }
    QPointF snapped(QPointF place) const {
        return m_pixels ? scene(std::round(x(place.x())), std::round(y(place.y())), 0, 0).topLeft() : place;
    }
    QRectF snapped(const QRectF& rect) const {
        if (!m_pixels) return rect;
        const double left = std::round(x(rect.left())), top = std::round(y(rect.top()));
        return scene(left, top, std::max(1.0, std::round(x(rect.right())) - left),
                     std::max(1.0, std::round(y(rect.bottom())) - top));
    }

    /// Returns the rectangle to draw with a pen of this width (0: none). The edges of the pen's lines lie on
    /// the grid, so that a shape looks exactly the same when it is drawn a whole number of pixels away.
    QRectF outlined(const QRectF& rect, double sceneWidth) const {
        if (!m_pixels) return rect;
        const double half = penWidth(sceneWidth) * m_scale / 2;
        const auto place = [half](double pixel) { return std::round(pixel - half) + half; };
        const double left = place(x(rect.left())), top = place(y(rect.top()));
        return scene(left, top, std::max(1.0, place(x(rect.right())) - left),
                     std::max(1.0, place(y(rect.bottom())) - top));
    }
    /// Returns a pen width that is a whole number of pixels.
    double penWidth(double sceneWidth) const {
        return m_pixels ? std::max(1.0, std::round(sceneWidth * m_scale)) / m_scale : sceneWidth;
    }
    double length(double sceneLength) const {
        return m_pixels ? std::round(sceneLength * m_scale) / m_scale : sceneLength;
    }

    /// Returns the pixels of a rectangle, at least one pixel wide and high.
    QRect pixelsOf(const QRectF& rect) const {
        const auto whole = [](double place) { return static_cast<int>(std::lround(place)); };
        const int left = whole(x(rect.left())), top = whole(y(rect.top()));
        return {left, top, std::max(1, whole(x(rect.right())) - left),
                std::max(1, whole(y(rect.bottom())) - top)};
    }

  private:
    double m_scale = 1, m_x = 0, m_y = 0;
    bool m_pixels = false;
};

}  // namespace quantloupe::ui
