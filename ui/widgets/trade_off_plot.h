// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluated configurations as points: the accuracy over the cost, with the Pareto front: the points that no
// other point beats in both. A second front can be shown for comparison, and a limit that can be dragged. A
// click chooses a point.

#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

namespace quantloupe::ui {

struct TradeOffPoint {
    double cost = 0, value = 0;  ///< both finite; lower cost is better
    QString toolTip;
    bool current = false, baseline = false;
    std::size_t entry = 0;  ///< identifies the point for the owner
};

/// The axis of the values.
struct TradeOffValues {
    QString name;
    bool own = false;  ///< the user's metric, of any size; otherwise percent or dB
    bool lowerIsBetter = false;
};

/// Largest cost (a vertical line) or worst value (a horizontal line).
struct TradeOffLimit {
    Qt::Orientation line = Qt::Vertical;
    double at = 0;
    bool operator==(const TradeOffLimit&) const = default;
};

/// Indices of the points of the front, by cost. If several points are in the same place, only the first is on
/// the front.
std::vector<std::size_t> paretoFront(const std::vector<TradeOffPoint>& points, bool lowerIsBetter = false);

class TradeOffPlot : public QWidget {
    Q_OBJECT
  public:
    explicit TradeOffPlot(QWidget* parent = nullptr);
    /// `costText` formats the ends of the cost axis; by default as plain numbers.
    void setPoints(std::vector<TradeOffPoint> points, const QString& costName, const TradeOffValues& values,
                   std::function<QString(double)> costText = {});
    const std::vector<TradeOffPoint>& points() const { return m_points; }
    /// Another front on the same axes, drawn behind; `title` names it.
    void setOther(std::vector<TradeOffPoint> points, const QString& title);
    const std::vector<TradeOffPoint>& other() const { return m_other; }
    void setLimit(const std::optional<TradeOffLimit>& limit);
    const std::optional<TradeOffLimit>& limit() const { return m_limit; }
    /// Returns the position of a point, and of a cost and a value.
    QPointF placeOf(std::size_t point) const { return placeAt(m_points[point].cost, m_points[point].value); }
    QPointF placeAt(double cost, double value) const;
    QSize sizeHint() const override { return {fontMetrics().height() * 18, fontMetrics().height() * 10}; }

  Q_SIGNALS:
    void chosen(std::size_t entry);
    void hovered(std::optional<std::size_t> entry);  ///< empty: no point
    void limitDragged(double at);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    QRectF area() const;
    QRectF inner() const;
    void rescale();
    const TradeOffPoint* pointAt(QPointF at) const;
    bool onLimit(QPointF at) const;
    void drag(QPointF at);
    void hover(const TradeOffPoint* point);
    void paintAxes(QPainter& painter) const;
    void paintFront(QPainter& painter, const std::vector<TradeOffPoint>& points, bool behind) const;
    void paintLimit(QPainter& painter) const;

    std::vector<TradeOffPoint> m_points, m_other;
    QString m_costName, m_otherTitle;
    TradeOffValues m_values;
    std::function<QString(double)> m_costText;
    std::optional<TradeOffLimit> m_limit;
    std::optional<std::size_t> m_hovered;  ///< entry
    bool m_dragging = false;
    double m_lowCost = 0, m_highCost = 1, m_lowValue = 0, m_highValue = 1;
};

}  // namespace quantloupe::ui
