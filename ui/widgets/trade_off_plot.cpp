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
#include <tuple>
#include <utility>

#include "style/theme.h"
#include "style/words.h"

namespace quantloupe::ui {

std::vector<std::size_t> paretoFront(const std::vector<TradeOffPoint>& points, bool lowerIsBetter) {
    const auto better = [&](std::size_t a, std::size_t b) {
        return lowerIsBetter ? points[a].value < points[b].value : points[a].value > points[b].value;
    };
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        if (points[a].cost != points[b].cost) return points[a].cost < points[b].cost;
        return better(a, b);
    });
    std::vector<std::size_t> front;
    for (const std::size_t point : order)
        if (front.empty() || better(point, front.back())) front.push_back(point);
    return front;
}

TradeOffPlot::TradeOffPlot(QWidget* parent) : QWidget(parent) {
    setMinimumHeight(fontMetrics().height() * 7);
    setMouseTracking(true);
    setAccessibleName(tr("Accuracy against cost"));
}

void TradeOffPlot::setPoints(std::vector<TradeOffPoint> points, const QString& costName,
                             const TradeOffValues& values, std::function<QString(double)> costText) {
    m_points = std::move(points);
    m_costName = costName;
    m_values = values;
    m_costText = std::move(costText);
    rescale();
}

void TradeOffPlot::setOther(std::vector<TradeOffPoint> points, const QString& title) {
    m_other = std::move(points);
    m_otherTitle = title;
    rescale();
}

void TradeOffPlot::setLimit(const std::optional<TradeOffLimit>& limit) {
    if (limit == m_limit) return;
    m_limit = limit;
    rescale();
}

/// The axes stay where they are while the limit is dragged.
void TradeOffPlot::rescale() {
    update();
    if (m_dragging || (m_points.empty() && m_other.empty())) return;
    std::vector<double> costs, values;
    for (const auto* points : {&m_points, &m_other})
        for (const TradeOffPoint& point : *points) costs.push_back(point.cost), values.push_back(point.value);
    if (m_limit) (m_limit->line == Qt::Vertical ? costs : values).push_back(m_limit->at);
    std::tie(m_lowCost, m_highCost) = std::tuple(std::ranges::min(costs), std::ranges::max(costs));
    std::tie(m_lowValue, m_highValue) = std::tuple(std::ranges::min(values), std::ranges::max(values));
    if (!(m_highCost > m_lowCost)) m_highCost = m_lowCost + 1;
    const double least = m_values.own ? std::max(std::abs(m_highValue) / 20, 1e-12) : 1;
    m_highValue = std::max(m_highValue, m_lowValue + least);
}

QRectF TradeOffPlot::area() const {
    const double unit = fontMetrics().height();
    return QRectF(rect()).adjusted(unit * 3.6, unit * 1.5, -unit, -unit * 2.2);
}

/// Returns the area without the margin between the outermost points and the axes.
QRectF TradeOffPlot::inner() const {
    const double room = fontMetrics().height() * 0.6;
    return area().adjusted(room, room, -room, -room);
}

QPointF TradeOffPlot::placeAt(double cost, double value) const {
    const QRectF box = inner();
    return {box.left() + (cost - m_lowCost) / (m_highCost - m_lowCost) * box.width(),
            box.bottom() - (value - m_lowValue) / (m_highValue - m_lowValue) * box.height()};
}

const TradeOffPoint* TradeOffPlot::pointAt(QPointF at) const {
    const TradeOffPoint* best = nullptr;
    double nearest = fontMetrics().height() * 0.8;
    for (const auto* points : {&m_points, &m_other})  // ties: the first one
        for (const TradeOffPoint& point : *points) {
            const QPointF apart = placeAt(point.cost, point.value) - at;
            const double distance = std::hypot(apart.x(), apart.y());
            if (distance < nearest || (distance == nearest && !best)) nearest = distance, best = &point;
        }
    return best;
}

bool TradeOffPlot::onLimit(QPointF at) const {
    if (!m_limit || (m_points.empty() && m_other.empty())) return false;
    const QPointF line = placeAt(m_limit->at, m_limit->at);
    const double away = m_limit->line == Qt::Vertical ? at.x() - line.x() : at.y() - line.y();
    return std::abs(away) <= fontMetrics().height() * 0.35 && area().contains(at);
}

void TradeOffPlot::paintAxes(QPainter& painter) const {
    const Theme& colors = themeOf(palette());
    const double unit = fontMetrics().height();
    const QRectF box = area();
    painter.setPen(QPen(colors.border, 1));
    painter.drawLine(box.bottomLeft(), box.bottomRight());
    painter.drawLine(box.bottomLeft(), box.topLeft());
    painter.setPen(colors.muted);
    painter.setFont(scaledFont(font(), 0.85));
    painter.drawText(QRectF(unit * 0.3, 0, width(), unit * 1.3), Qt::AlignLeft | Qt::AlignVCenter,
                     m_values.name);
    painter.drawText(QRectF(0, height() - unit * 1.2, width() - unit * 0.5, unit * 1.2),
                     Qt::AlignRight | Qt::AlignVCenter, m_costName);
    if (!m_other.empty()) {
        const QRectF place(width() * 0.35, 0, width() * 0.65 - unit * 0.5, unit * 1.3);
        const QString title = tr("dashed: %1").arg(m_otherTitle);
        painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(title, Qt::ElideRight, int(place.width())));
    }
    if (m_points.empty() && m_other.empty()) return;
    painter.setFont(scaledFont(numberFont(font()), 0.82));
    const auto number = [](double value) {
        return QString::number(value, 'f', std::abs(value) < 100 ? 1 : 0)
            .replace(QLatin1Char('-'), QChar(0x2212));
    };
    const auto metric = [&](double value) {
        return m_values.own ? withMinusSigns(QString::number(value, 'g', 4)) : number(value);
    };
    const auto cost = [&](double value) { return m_costText ? m_costText(value) : number(value); };
    painter.drawText(QRectF(0, box.top() - unit / 2, box.left() - unit * 0.3, unit),
                     Qt::AlignRight | Qt::AlignVCenter, metric(m_highValue));
    painter.drawText(QRectF(0, box.bottom() - unit / 2, box.left() - unit * 0.3, unit),
                     Qt::AlignRight | Qt::AlignVCenter, metric(m_lowValue));
    painter.drawText(QRectF(box.left(), box.bottom(), box.width(), unit), Qt::AlignLeft | Qt::AlignVCenter,
                     cost(m_lowCost));
    painter.drawText(QRectF(box.left(), box.bottom(), box.width(), unit), Qt::AlignRight | Qt::AlignVCenter,
                     cost(m_highCost));
}

/// A staircase: between two points, no evaluated point is better than the cheaper one.
void TradeOffPlot::paintFront(QPainter& painter, const std::vector<TradeOffPoint>& points,
                              bool behind) const {
    const Theme& colors = themeOf(palette());
    const double unit = fontMetrics().height();
    const QColor main = behind ? colors.muted : colors.accent;
    const std::vector<std::size_t> front = paretoFront(points, m_values.lowerIsBetter);
    const auto place = [&](std::size_t i) { return placeAt(points[i].cost, points[i].value); };
    QPainterPath stairs;
    for (std::size_t i = 0; i < front.size(); ++i) {
        const QPointF at = place(front[i]);
        if (i == 0)
            stairs.moveTo(at);
        else
            stairs.lineTo(at.x(), place(front[i - 1]).y());
        stairs.lineTo(at);
    }
    QColor line = main;
    line.setAlpha(behind ? 190 : 130);
    painter.setPen(QPen(line, 1.5, behind ? Qt::DashLine : Qt::SolidLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(stairs);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool onFront = std::ranges::count(front, i) > 0, hovered = m_hovered == points[i].entry;
        const double radius = unit * (points[i].current || hovered ? 0.34 : behind ? 0.2 : 0.24);
        painter.setPen(QPen(points[i].current || hovered ? colors.text
                            : onFront                    ? main
                                                         : colors.edge,
                            points[i].current ? 2 : 1));
        painter.setBrush(behind ? colors.panel : onFront ? main : colors.soft);
        if (points[i].baseline)
            painter.drawRect(QRectF(place(i) - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius)));
        else
            painter.drawEllipse(place(i), radius, radius);
    }
}

void TradeOffPlot::paintLimit(QPainter& painter) const {
    if (!m_limit || (m_points.empty() && m_other.empty())) return;
    const QRectF box = area();
    const QPointF at = placeAt(m_limit->at, m_limit->at);
    painter.setPen(QPen(themeOf(palette()).warning, m_dragging ? 2.5 : 1.5, Qt::DashDotLine));
    if (m_limit->line == Qt::Vertical)
        painter.drawLine(QPointF(at.x(), box.top()), QPointF(at.x(), box.bottom()));
    else
        painter.drawLine(QPointF(box.left(), at.y()), QPointF(box.right(), at.y()));
}

void TradeOffPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintAxes(painter);
    paintLimit(painter);
    paintFront(painter, m_other, true);
    paintFront(painter, m_points, false);
}

void TradeOffPlot::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || pointAt(event->position()) || !onLimit(event->position()))
        return;
    m_dragging = true;
    update();
}

void TradeOffPlot::drag(QPointF at) {
    const QRectF box = inner();
    const double along = m_limit->line == Qt::Vertical ? (at.x() - box.left()) / box.width()
                                                       : (box.bottom() - at.y()) / box.height();
    const double share = std::clamp(along, 0.0, 1.0);
    m_limit->at = m_limit->line == Qt::Vertical ? m_lowCost + share * (m_highCost - m_lowCost)
                                                : m_lowValue + share * (m_highValue - m_lowValue);
    update();
    Q_EMIT limitDragged(m_limit->at);
}

void TradeOffPlot::mouseMoveEvent(QMouseEvent* event) {
    if (m_dragging) return drag(event->position());
    const TradeOffPoint* point = pointAt(event->position());
    hover(point);
    setCursor(point                           ? Qt::PointingHandCursor
              : !onLimit(event->position())   ? Qt::ArrowCursor
              : m_limit->line == Qt::Vertical ? Qt::SplitHCursor
                                              : Qt::SplitVCursor);
}

void TradeOffPlot::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (std::exchange(m_dragging, false)) return rescale();
    if (const TradeOffPoint* point = pointAt(event->position())) Q_EMIT chosen(point->entry);
}

void TradeOffPlot::leaveEvent(QEvent* event) {
    hover(nullptr);
    QWidget::leaveEvent(event);
}

void TradeOffPlot::hover(const TradeOffPoint* point) {
    const auto entry = point ? std::optional(point->entry) : std::nullopt;
    if (entry == m_hovered) return;
    m_hovered = entry;
    update();
    Q_EMIT hovered(entry);
}

bool TradeOffPlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const TradeOffPoint* point = pointAt(help->pos()))
            QToolTip::showText(help->globalPos(), point->toolTip, this);
        else if (onLimit(help->pos()))
            QToolTip::showText(help->globalPos(), tr("Drag to change the limit"), this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

}  // namespace quantloupe::ui
