// SPDX-License-Identifier: Apache-2.0
#pragma once
// The texts of the graph's boxes: title, name and number; compact rows; and details from kDetailZoom on.

#include <QPainter>
#include <QStringList>

#include "graph/device_grid.h"
#include "graph/graph_painter.h"
#include "graph/text_cache.h"

namespace quantloupe::ui {

class BoxTextPainter {
  public:
    BoxTextPainter(QPainter& painter, const PaintScene& scene, TextCache& texts, const DeviceGrid& grid,
                   double zoom)
        : m_painter(painter),
          m_scene(scene),
          m_texts(texts),
          m_theme(*scene.theme),
          m_grid(grid),
          m_zoom(zoom) {}

    void paint(std::size_t box, const NodeLook& look, const QRectF& rect);

  private:
    QColor ink(const NodeLook& look, const QColor& color) const;
    double paintNumber(const NodeLook& look, const QRectF& line, double numberSize, double wordSize);
    void paintRow(const PictureNode& node, const NodeLook& look, const QRectF& box,
                  const QStringList& details);
    double detailSize() const;
    void paintDetails(const NodeLook& look, const QRectF& box, const QStringList& details);
    void paintUsual(const PictureNode& node, const NodeLook& look, const QRectF& box);

    QPainter& m_painter;
    const PaintScene& m_scene;
    TextCache& m_texts;
    const Theme& m_theme;
    const DeviceGrid& m_grid;
    double m_zoom;
};

}  // namespace quantloupe::ui
