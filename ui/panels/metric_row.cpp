// SPDX-License-Identifier: Apache-2.0
#include "panels/metric_row.h"

#include <QPainter>
#include <algorithm>

#include "style/theme.h"

namespace quantloupe::ui {

MetricRow::MetricRow(const QString& name, const QString& toolTip, QWidget* parent)
    : QWidget(parent), m_name(name), m_value(QStringLiteral("\u2013")) {
    setToolTip(toolTip);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void MetricRow::setValue(const QString& value, double heat, bool quiet) {
    m_value = value;
    m_heat = heat;
    m_quiet = quiet;
    setAccessibleName(m_name + QLatin1Char(' ') + value);
    update();
}

void MetricRow::setDifference(const QString& difference) {
    if (difference == m_difference) return;
    m_difference = difference;
    update();
}

QSize MetricRow::sizeHint() const {
    return {fontMetrics().height() * 12, qRound(fontMetrics().height() * 1.45)};
}

void MetricRow::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double unit = fontMetrics().height();
    const QFont numbers = numberFont(font());
    const double name = fontMetrics().horizontalAdvance(m_name),
                 value = QFontMetricsF(numbers).horizontalAdvance(m_value);
    const double barLeft = std::max(width() * 0.64, name + value + unit);  // long values move the bar
    painter.setPen(colors.muted);
    painter.drawText(QRectF(0, 0, barLeft, height()), Qt::AlignLeft | Qt::AlignVCenter, m_name);
    painter.setFont(numbers);
    painter.setPen(m_quiet ? colors.muted : colors.text);
    painter.drawText(QRectF(0, 0, barLeft - unit * 0.6, height()), Qt::AlignRight | Qt::AlignVCenter,
                     m_value);
    const double right =
        m_difference.isEmpty()
            ? width()
            : width() - std::max(unit * 3.6, painter.fontMetrics().horizontalAdvance(m_difference) + 1.0);
    if (!m_difference.isEmpty()) {
        painter.setPen(colors.muted);
        painter.drawText(QRectF(right, 0, width() - right, height()), Qt::AlignRight | Qt::AlignVCenter,
                         m_difference);
    }
    if (m_heat < 0) return;
    const QRectF track(barLeft, height() / 2.0 - unit * 0.16, right - barLeft, unit * 0.32);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colors.hover);
    painter.drawRoundedRect(track, 2.5, 2.5);
    QColor color = heatColor(m_heat, colors.dark);
    if (m_quiet) color.setAlpha(150);
    painter.setBrush(color);
    painter.drawRoundedRect(
        QRectF(track.topLeft(), QSizeF(std::max(3.0, track.width() * m_heat), track.height())), 2.5, 2.5);
}

}  // namespace quantloupe::ui
