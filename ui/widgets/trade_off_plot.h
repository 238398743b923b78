// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluated configurations as points: the accuracy over the cost of float layers, with the Pareto front: the
// points that no other point beats in both. A click chooses one.

#include <QWidget>
#include <vector>

namespace quantloupe::ui {

struct TradeOffPoint {
    double cost = 0, value = 0;  ///< both finite; less cost and more value are better
    QString toolTip;
    bool current = false, baseline = false;
    std::size_t entry = 0;  ///< whatever the owner means by it
};

/// Indices of the points of the front, by cost. Of points in the same place only the first is on it.
std::vector<std::size_t> paretoFront(const std::vector<TradeOffPoint>& points);

class TradeOffPlot : public QWidget {
    Q_OBJECT
  public:
    explicit TradeOffPlot(QWidget* parent = nullptr);
    void setPoints(std::vector<TradeOffPoint> points, const QString& costName, const QString& valueName);
    const std::vector<TradeOffPoint>& points() const { return m_points; }
    /// Where the point is drawn.
    QPointF placeOf(std::size_t point) const;
    QSize sizeHint() const override { return {fontMetrics().height() * 18, fontMetrics().height() * 10}; }

  Q_SIGNALS:
    void chosen(std::size_t entry);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

  private:
    QRectF area() const;
    int pointAt(QPointF at) const;

    std::vector<TradeOffPoint> m_points;
    std::vector<std::size_t> m_front;
    QString m_costName, m_valueName;
    double m_lowCost = 0, m_highCost = 1, m_lowValue = 0, m_highValue = 1;
};

}  // namespace quantloupe::ui
