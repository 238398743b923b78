// SPDX-License-Identifier: Apache-2.0
#pragma once
// Buttons that zoom the graph in and out, show all of it, and show its zoom.

#include <QToolButton>
#include <QWidget>

#include "graph/graph_canvas.h"

namespace quantloupe::ui {

class ZoomButtons : public QWidget {
    Q_OBJECT
  public:
    explicit ZoomButtons(GraphCanvas* canvas, QWidget* parent = nullptr);
    /// Only the buttons that zoom, for a place without room.
    void setNarrow(bool narrow);

  private:
    void showZoom();

    GraphCanvas* m_canvas;
    QToolButton *m_zoom, *m_fit;
};

}  // namespace quantloupe::ui
