// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pixels of what is painted on, seen from the scene: rectangles that lie on them are crisp, and are
// filled without antialiasing, which is some ten times as fast. On a PDF page the grid is one of points and
// nothing has to be moved.

#include <QPaintEngine>
#include <QPainter>
#include <QRect>
#include <algorithm>
#include <cmath>

namespace quantloupe::ui {

class DeviceGrid {
  public:
    /// Of a pixel, that all is painted beside its place: many places are whole pixels or 64ths, where the
    /// rasterizer cuts off, and the noise of another offset's floating point would take them one way or the
    /// other. A little aside they stay what they are.
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
    /// From pixels to the scene.
    QRectF scene(double left, double top, double width, double height) const {
        return {(left + kAside - m_x) / m_scale, (top + kAside - m_y) / m_scale, width / m_scale,
                height / m_scale};
    }
    /// The line along an axis from a to b, some whole number of pixels wide.
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

    /// For a pen of that width (0: none): lines whose rims lie on the grid, so that a shape that is drawn
    /// again elsewhere, whole pixels away, is the same to the last level.
    QRectF outlined(const QRectF& rect, double sceneWidth) const {
        if (!m_pixels) return rect;
        const double half = penWidth(sceneWidth) * m_scale / 2;
        const auto place = [half](double pixel) { return std::round(pixel - half) + half; };
        const double left = place(x(rect.left())), top = place(y(rect.top()));
        return scene(left, top, std::max(1.0, place(x(rect.right())) - left),
                     std::max(1.0, place(y(rect.bottom())) - top));
    }
    /// Some whole number of pixels.
    double penWidth(double sceneWidth) const {
        return m_pixels ? std::max(1.0, std::round(sceneWidth * m_scale)) / m_scale : sceneWidth;
    }
    double length(double sceneLength) const {
        return m_pixels ? std::round(sceneLength * m_scale) / m_scale : sceneLength;
    }

    /// At least one pixel large.
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
