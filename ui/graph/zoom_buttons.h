// SPDX-License-Identifier: Apache-2.0
#pragma once
// Buttons that zoom the graph in and out and show the whole graph. Also displays the zoom.

#include <QToolButton>
#include <QWidget>

#include "graph/graph_canvas.h"

namespace quantloupe::ui {

class ZoomButtons : public QWidget {
    Q_OBJECT
  public:
    explicit ZoomButtons(GraphCanvas* canvas, QWidget* parent = nullptr);
    /// Shows only the zoom buttons, for narrow places.
    void setNarrow(bool narrow);

  private:
    void showZoom();

    GraphCanvas* m_canvas;
    QToolButton *m_zoom, *m_fit;
};

}  // namespace quantloupe::ui
