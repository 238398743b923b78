// SPDX-License-Identifier: Apache-2.0
#pragma once
// The meaning of colors and shapes, below the graph: the metric's color scale and the states. Dragging
// adjusts the ends of the scale, a double click resets them; a click on "linear" makes it logarithmic.

#include <QPixmap>
#include <QWidget>

#include "graph/graph_canvas.h"

namespace quantloupe::ui {

/// Paints the legend into `area` with the painter's font, for the window and for picture files. `nothing` is
/// shown if no layer has a value. `framed`: with a frame; otherwise with a line above.
void paintLegend(QPainter& painter, const QRectF& area, const MetricScale& scale, const Theme& colors,
                 const QString& nothing = {}, bool framed = true);
/// Returns the size of the legend, which is at most `room` wide: in narrow places, the states are arranged in
/// rows or below the scale.
QSizeF legendSize(const QFont& font, bool hasScale, double room = 1e9);

/// Size of the names of precisions below their colors, relative to the legend's font.
inline constexpr double kPrecisionNameSize = 0.82;

class Legend : public QWidget {
    Q_OBJECT
  public:
    explicit Legend(GraphCanvas* canvas, QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize sizeFor(double room) const;

    QRectF barRect() const;     ///< of the color scale
    QRectF switchRect() const;  ///< of "linear" or "log"
    /// Returns why no layer has a value, in a few words; empty if unknown.
    QString nothing() const;
    void toggleLogarithmic();
    void resetScale();

  Q_SIGNALS:
    void thresholdRequested();

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

  private:
    enum class Grip { None, Best, Worst };
    Grip gripAt(QPointF position) const;
    bool hasScale() const;
    QString scaleHint() const;  ///< the end of its tooltip
    double unit() const { return fontMetrics().height(); }
    void drag(QPointF position);

    GraphCanvas* m_canvas;
    Grip m_grip = Grip::None;
    QPixmap m_painted;
};

}  // namespace quantloupe::ui
