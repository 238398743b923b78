// SPDX-License-Identifier: Apache-2.0
#pragma once
// What colours and shapes mean, in a corner of the graph: the metric's colour scale and the states.

#include <QWidget>

#include "graph/graph_canvas.h"

namespace quantloupe::ui {

class Legend : public QWidget {
    Q_OBJECT
  public:
    explicit Legend(GraphCanvas* canvas, QWidget* parent = nullptr);
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    GraphCanvas* m_canvas;
};

}  // namespace quantloupe::ui
