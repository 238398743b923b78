// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last painted frame of the graph. While panning, most of a frame is the previous frame moved by whole
// pixels, and only the newly visible border is painted. Changes of the scene itself (colors, selection, zoom,
// the screen's scale) repaint all of it. GUI thread.

#include <QColor>
#include <QImage>
#include <QPainter>

#include "graph/graph_painter.h"
#include "graph/view_transform.h"

namespace quantloupe::ui {

class PaintedView {
  public:
    /// Call this when the scene has changed.
    void forget() { m_known = false; }
    /// Returns the frame of `size` widget pixels with `ratio` device pixels each, on `background`. The offset
    /// is rounded to whole device pixels, so that a moving graph does not shimmer. Valid until the next call.
    const QImage& frame(const PaintScene& scene, const ViewTransform& transform, QSize size, double ratio,
                        const QColor& background);

  private:
    /// If the image border cuts a curve, the rasterizer can be off by one gray level, so the border is
    /// outside the visible part.
    static constexpr int kMargin = 32;  ///< device pixels, more than the radius of a corner

    void paintPart(const PaintScene& scene, const QRect& pixels, const QColor& background);
    void scroll(int dx, int dy);

    bool m_known = false;
    QImage m_canvas;  ///< the visible part with kMargin around it
    QImage m_image;   ///< the visible part of m_canvas, sharing its memory
    ViewTransform m_transform;
    double m_ratio = 1;
};

}  // namespace quantloupe::ui
