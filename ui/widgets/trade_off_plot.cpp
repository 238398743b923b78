// SPDX-License-Identifier: Apache-2.0
#include "widgets/trade_off_plot.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "style/theme.h"

namespace quantloupe::ui {

std::vector<std::size_t> paretoFront(const std::vector<TradeOffPoint>& points) {
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        if (points[a].cost != points[b].cost) return points[a].cost < points[b].cost;
        return points[a].value > points[b].value;
    });
    std::vector<std::size_t> front;
    for (const std::size_t point : order)
        if (front.empty() || points[point].value > points[front.back()].value) front.push_back(point);
    return front;
}

TradeOffPlot::TradeOffPlot(QWidget* parent) : QWidget(parent) {
    setMinimumHeight(fontMetrics().height() * 7);
    setMouseTracking(true);
    setAccessibleName(tr("Accuracy against the cost of float layers"));
}

void TradeOffPlot::setPoints(std::vector<TradeOffPoint> points, const QString& costName,
                             const QString& valueName) {
    m_points = std::move(points);
    m_front = paretoFront(m_points);
    m_costName = costName;
    m_valueName = valueName;
    if (!m_points.empty()) {
        const auto [lowCost, highCost] = std::ranges::minmax(m_points, {}, &TradeOffPoint::cost);
        const auto [lowValue, highValue] = std::ranges::minmax(m_points, {}, &TradeOffPoint::value);
        m_lowCost = lowCost.cost, m_highCost = std::max(highCost.cost, lowCost.cost + 1);
        m_lowValue = lowValue.value, m_highValue = std::max(highValue.value, lowValue.value + 1);
    }
    update();
}

QRectF TradeOffPlot::area() const {
    const double unit = fontMetrics().height();
    return QRectF(rect()).adjusted(unit * 3.6, unit * 1.5, -unit, -unit * 2.2);
}

QPointF TradeOffPlot::placeOf(std::size_t point) const {
    QRectF box = area();
    const TradeOffPoint& p = m_points[point];
    const double room = fontMetrics().height() * 0.6;  // between the outermost points and the axes
    box.adjust(room, room, -room, -room);
    return {box.left() + (p.cost - m_lowCost) / (m_highCost - m_lowCost) * box.width(),
            box.bottom() - (p.value - m_lowValue) / (m_highValue - m_lowValue) * box.height()};
}

int TradeOffPlot::pointAt(QPointF at) const {
    int best = -1;
    double nearest = fontMetrics().height() * 0.8;
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        const QPointF apart = placeOf(i) - at;
        if (const double distance = std::hypot(apart.x(), apart.y()); distance <= nearest)
            nearest = distance, best = static_cast<int>(i);
    }
    return best;
}

void TradeOffPlot::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double unit = fontMetrics().height();
    const QRectF box = area();
    painter.setPen(QPen(colors.border, 1));
    painter.drawLine(box.bottomLeft(), box.bottomRight());
    painter.drawLine(box.bottomLeft(), box.topLeft());
    painter.setPen(colors.muted);
    painter.setFont(scaledFont(font(), 0.85));
    painter.drawText(QRectF(unit * 0.3, 0, width(), unit * 1.3), Qt::AlignLeft | Qt::AlignVCenter,
                     m_valueName);
    painter.drawText(QRectF(0, height() - unit * 1.2, width() - unit * 0.5, unit * 1.2),
                     Qt::AlignRight | Qt::AlignVCenter, m_costName);
    if (m_points.empty()) return;
    painter.setFont(scaledFont(numberFont(font()), 0.82));
    const auto text = [](double value) { return QString::number(value, 'f', std::abs(value) < 100 ? 1 : 0); };
    painter.drawText(QRectF(0, box.top() - unit / 2, box.left() - unit * 0.3, unit),
                     Qt::AlignRight | Qt::AlignVCenter, text(m_highValue));
    painter.drawText(QRectF(0, box.bottom() - unit / 2, box.left() - unit * 0.3, unit),
                     Qt::AlignRight | Qt::AlignVCenter, text(m_lowValue));
    painter.drawText(QRectF(box.left(), box.bottom(), box.width(), unit), Qt::AlignLeft | Qt::AlignVCenter,
                     text(m_lowCost));
    painter.drawText(QRectF(box.left(), box.bottom(), box.width(), unit), Qt::AlignRight | Qt::AlignVCenter,
                     text(m_highCost));

    // A staircase: between two points, no evaluated point is better than the cheaper one.
    QPainterPath stairs;
    for (std::size_t i = 0; i < m_front.size(); ++i) {
        const QPointF at = placeOf(m_front[i]);
        if (i == 0)
            stairs.moveTo(at);
        else
            stairs.lineTo(at.x(), placeOf(m_front[i - 1]).y());
        stairs.lineTo(at);
    }
    QColor line = colors.accent;
    line.setAlpha(130);
    painter.setPen(QPen(line, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(stairs);
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        const bool front = std::ranges::count(m_front, i) > 0;
        const double radius = unit * (m_points[i].current ? 0.34 : 0.24);
        painter.setPen(QPen(m_points[i].current ? colors.text
                            : front             ? colors.accent
                                                : colors.edge,
                            m_points[i].current ? 2 : 1));
        painter.setBrush(front ? colors.accent : colors.soft);
        if (m_points[i].baseline)
            painter.drawRect(QRectF(placeOf(i) - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius)));
        else
            painter.drawEllipse(placeOf(i), radius, radius);
    }
}

void TradeOffPlot::mouseReleaseEvent(QMouseEvent* event) {
    const int point = event->button() == Qt::LeftButton ? pointAt(event->position()) : -1;
    if (point >= 0) Q_EMIT chosen(m_points[static_cast<std::size_t>(point)].entry);
}

bool TradeOffPlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int point = pointAt(help->pos());
        if (point >= 0)
            QToolTip::showText(help->globalPos(), m_points[static_cast<std::size_t>(point)].toolTip, this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

}  // namespace quantloupe::ui
