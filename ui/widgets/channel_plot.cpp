// SPDX-License-Identifier: Apache-2.0
#include "widgets/channel_plot.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "style/theme.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

QString rangeText(const std::optional<ChannelRange>& range) {
    return range ? withMinusSigns(Words::tr("%1 to %2").arg(range->min, 0, 'g', 3).arg(range->max, 0, 'g', 3))
                 : QStringLiteral("\u2013");
}

}  // namespace

std::optional<double> rangeRatio(const std::vector<ChannelDetails>& channels, bool after) {
    double least = 0, most = 0;
    for (const ChannelDetails& channel : channels) {
        const auto& range = after ? channel.weightAfter : channel.weightBefore;
        if (!range) continue;
        const double size = std::max(std::abs(range->min), std::abs(range->max));
        if (size <= 0 || !std::isfinite(size)) continue;
        least = least == 0 ? size : std::min(least, size);
        most = std::max(most, size);
    }
    if (least == 0) return std::nullopt;
    return most / least;
}

ChannelPlot::ChannelPlot(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(qRound(fontMetrics().height() * 4.6));
    setAccessibleName(tr("Range of the weights of each channel"));
}

void ChannelPlot::setChannels(std::vector<ChannelDetails> channels) {
    m_channels = std::move(channels);
    update();
}

void ChannelPlot::setPlaceholder(const QString& text) {
    if (text == m_placeholder) return;
    m_placeholder = text;
    update();
}

void ChannelPlot::setQuiet(bool quiet) {
    if (quiet == m_quiet) return;
    m_quiet = quiet;
    update();
}

QSize ChannelPlot::sizeHint() const {
    return {fontMetrics().height() * 12, qRound(fontMetrics().height() * 4.6)};
}

int ChannelPlot::channelAt(double x) const {
    const int count = static_cast<int>(m_channels.size());
    return count == 0
               ? -1
               : std::clamp(static_cast<int>((x - 4) / std::max(1.0, width() - 8.0) * count), 0, count - 1);
}

void ChannelPlot::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setPen(QPen(colors.border, 1));
    painter.setBrush(colors.soft);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    float low = 0, high = 0;
    for (const ChannelDetails& channel : m_channels)
        for (const auto& range : {channel.weightBefore, channel.weightAfter})
            if (range && !range->empty()) low = std::min(low, range->min), high = std::max(high, range->max);
    if (!(high > low) || !std::isfinite(high - low)) {
        painter.setPen(colors.faint);
        painter.drawText(rect(), Qt::AlignCenter, m_placeholder);
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    const QRectF box = QRectF(rect()).adjusted(4, 5, -4, -5);
    const auto y = [&](float value) { return box.bottom() - (value - low) / (high - low) * box.height(); };
    const double step = box.width() / static_cast<double>(m_channels.size());
    QColor before = colors.edge, after = colors.accent;
    before.setAlpha(m_quiet ? 120 : 230);
    after.setAlpha(m_quiet ? 110 : 240);
    // If several channels share a pixel, each pixel column shows the widest of its channels.
    const double bar = std::max(1.0, step * 0.42);
    for (std::size_t c = 0; c < m_channels.size(); ++c) {
        const double x = box.left() + static_cast<double>(c) * step;
        const auto draw = [&](const std::optional<ChannelRange>& range, double left, const QColor& color) {
            if (!range || range->empty()) return;
            const double top = y(range->max), bottom = y(range->min);
            painter.fillRect(QRectF(left, top, bar, std::max(1.0, bottom - top)), color);
        };
        draw(m_channels[c].weightBefore, x, before);
        draw(m_channels[c].weightAfter, step >= 2 ? x + bar : x, after);
    }
    painter.setPen(QPen(colors.faint, 1));
    painter.drawLine(QPointF(box.left(), y(0)), QPointF(box.right(), y(0)));
}

void ChannelPlot::mouseReleaseEvent(QMouseEvent* event) {
    if (const int channel = channelAt(event->position().x()); channel >= 0) Q_EMIT channelClicked(channel);
}

bool ChannelPlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const int index = channelAt(help->pos().x()); index >= 0) {
            const ChannelDetails& channel = m_channels[static_cast<std::size_t>(index)];
            QToolTip::showText(help->globalPos(),
                               tr("channel %1\nbefore: %2\nafter: %3")
                                   .arg(index)
                                   .arg(rangeText(channel.weightBefore), rangeText(channel.weightAfter)),
                               this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace quantloupe::ui
