// SPDX-License-Identifier: Apache-2.0
#pragma once
// The whole graph as a narrow strip: states at the left, the metric as bars at the right, and a frame around
// the part shown on the canvas. Click or drag to move there.

#include <QPixmap>
#include <QWidget>

#include "graph/graph_canvas.h"

namespace quantloupe::ui {

class Minimap : public QWidget {
    Q_OBJECT
  public:
    explicit Minimap(GraphCanvas* canvas, QWidget* parent = nullptr);
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void rebuild();
    QRectF mapped(const QRectF& scene) const;  ///< into the left column
    void moveTo(QPointF position);
    QRectF states() const;
    QRectF bars() const;
    bool wide() const;

    GraphCanvas* m_canvas;
    QPixmap m_cache;
};

}  // namespace quantloupe::ui
