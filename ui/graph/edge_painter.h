// SPDX-License-Identifier: Apache-2.0
#pragma once
// The edges of the graph. Long edges span many screens, and thousands overlap when zoomed out, so only the
// visible part is drawn: axis-aligned parts (most of them) as rectangles on whole pixels, and each pixel only
// once when zoomed out.

#include <QPainter>

#include "graph/device_grid.h"
#include "graph/graph_painter.h"
#include "graph/text_cache.h"

namespace quantloupe::ui {

class EdgePainter {
  public:
    EdgePainter(QPainter& painter, const PaintScene& scene, TextCache& texts, const QRectF& visible,
                double zoom);
    void paint();

  private:
    using Edge = PictureEdge;
    bool isHighlighted(const Edge& edge) const;
    void addSegments(const Edge& edge);
    void addPlain(const Edge& edge);
    void fillSegments(const QColor& color);
    void fillPlain(const QColor& color);
    void addHead(const Edge& edge, QPainterPath& heads) const;
    void paintHighlighted(const Edge& edge);
    void paintDashes(const QPolygonF& line, const QColor& color);
    void paintReference(const Edge& edge, const QColor& color);

    /// Pixels of one column or row of the screen.
    struct Run {
        int at, from, to;
        auto operator<=>(const Run&) const = default;
    };
    void fillRuns(std::vector<Run>& runs, bool columns, const QColor& color);

    QPainter& m_painter;
    const PaintScene& m_scene;
    TextCache& m_texts;
    const Theme& m_theme;
    DeviceGrid m_grid;
    QRectF m_visible;
    double m_zoom;
    bool m_plain;
    QList<QLineF> m_slanted;
    std::vector<QRectF> m_straight;
    std::vector<Run> m_columns, m_rows;
};

}  // namespace quantloupe::ui
