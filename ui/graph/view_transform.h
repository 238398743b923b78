// SPDX-License-Identifier: Apache-2.0
#pragma once
// The transform from the scene to the view: view = scene * zoom + offset. Scene units are the points of the
// picture.

#include <QPointF>
#include <QRectF>
#include <algorithm>

namespace quantloupe::ui {

struct ViewTransform {
    static constexpr double kMinZoom = 0.005;
    static constexpr double kMaxZoom = 6;

    double zoom = 1;
    QPointF offset;

    bool operator==(const ViewTransform&) const = default;

    QPointF toView(QPointF scene) const { return scene * zoom + offset; }
    QPointF toScene(QPointF view) const { return (view - offset) / zoom; }
    QRectF toView(const QRectF& scene) const { return {toView(scene.topLeft()), scene.size() * zoom}; }
    QRectF toScene(const QRectF& view) const { return {toScene(view.topLeft()), view.size() / zoom}; }

    /// Changes the zoom and keeps the scene position under `view` fixed.
    void zoomAt(QPointF view, double factor) {
        const QPointF scene = toScene(view);
        zoom = std::clamp(zoom * factor, std::min(kMinZoom, zoom), kMaxZoom);
        offset = view - scene * zoom;
    }
    /// Moves `scene` to the center of `view`.
    void center(QPointF scene, const QRectF& view) { offset = view.center() - scene * zoom; }
    /// Shows all of `scene` in `view`, with a zoom of at most `most`. For very long scenes, the zoom may be
    /// below kMinZoom.
    void fit(const QRectF& scene, const QRectF& view, double most) {
        if (scene.isEmpty() || view.isEmpty()) return;
        zoom = std::min({view.width() / scene.width(), view.height() / scene.height(), most, kMaxZoom});
        center(scene.center(), view);
    }
};

}  // namespace quantloupe::ui
