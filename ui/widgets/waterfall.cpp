// SPDX-License-Identifier: Apache-2.0
#include "widgets/waterfall.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "style/theme.h"

namespace quantloupe::ui {

Waterfall::Waterfall(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Accuracy loss by step"));
}

void Waterfall::setSteps(std::vector<WaterfallStep> steps) {
    m_steps = std::move(steps);
    QStringList words;
    for (const WaterfallStep& step : m_steps)
        words << step.name + QLatin1Char(' ') + step.valueText + QLatin1Char(' ') + step.changeText;
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

void Waterfall::setQuiet(bool quiet) {
    if (quiet == m_quiet) return;
    m_quiet = quiet;
    update();
}

QSize Waterfall::sizeHint() const {
    return {fontMetrics().height() * 24,
            qRound(rowHeight() * static_cast<double>(std::max<std::size_t>(m_steps.size(), 4)))};
}

void Waterfall::paintEvent(QPaintEvent*) {
    if (m_steps.empty()) return;
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setOpacity(m_quiet ? 0.55 : 1);
    const double unit = fontMetrics().height(), height = rowHeight();
    double low = m_steps.front().value, high = low;
    for (const WaterfallStep& step : m_steps)
        if (std::isfinite(step.value)) low = std::min(low, step.value), high = std::max(high, step.value);
    // The smallest relevant change is visible, and a tiny change does not fill the width.
    const double span = std::max(high - low, std::abs(high) * 0.02 + 1e-6);
    low = high - span * 1.15;
    const double left = unit * 11, right = width() - unit * 9;
    const auto x = [&](double value) {
        return left + std::clamp((value - low) / (high - low), 0.0, 1.0) * (right - left);
    };
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
        const WaterfallStep& step = m_steps[i];
        const double top = height * static_cast<double>(i);
        painter.setPen(colors.text);
        painter.setFont(font());
        painter.drawText(
            QRectF(0, top, left - unit * 0.6, height), Qt::AlignLeft | Qt::AlignVCenter,
            fontMetrics().elidedText(step.name, Qt::ElideRight, static_cast<int>(left - unit * 0.6)));
        const double before = i == 0 ? low : m_steps[i - 1].value;
        const double from = x(std::min(before, step.value)), to = x(std::max(before, step.value));
        painter.setPen(Qt::NoPen);
        painter.setBrush(i == 0 ? colors.accent : step.value < before ? colors.error : colors.quantized);
        painter.drawRoundedRect(QRectF(from, top + height * 0.25, std::max(2.0, to - from), height * 0.5), 2,
                                2);
        if (i + 1 < m_steps.size()) {
            painter.setPen(QPen(colors.edge, 1, Qt::DotLine));
            painter.drawLine(QPointF(x(step.value), top + height * 0.75),
                             QPointF(x(step.value), top + height * 1.25));
        }
        painter.setFont(numberFont(font()));
        painter.setPen(colors.text);
        painter.drawText(QRectF(right, top, unit * 5, height), Qt::AlignRight | Qt::AlignVCenter,
                         step.valueText);
        painter.setPen(step.loss ? colors.error : colors.muted);
        painter.drawText(QRectF(right + unit * 5, top, unit * 4, height), Qt::AlignRight | Qt::AlignVCenter,
                         step.changeText);
    }
}

bool Waterfall::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto row = static_cast<std::size_t>(std::max(0.0, help->pos().y() / rowHeight()));
        if (row < m_steps.size()) {
            QToolTip::showText(help->globalPos(), m_steps[row].toolTip, this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace quantloupe::ui
