// SPDX-License-Identifier: Apache-2.0
#include "widgets/histogram_plot.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "style/theme.h"
#include "style/words.h"

namespace quantloupe::ui {

HistogramPlot::HistogramPlot(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(qRound(fontMetrics().height() * 4.6));
}

void HistogramPlot::setTensor(const std::optional<TensorDetails>& tensor, const QString& remark) {
    m_tensor = tensor;
    m_remark = remark;
    if (tensor)
        setAccessibleDescription(tr("%1 to %2, quantizer limits %3 to %4")
                                     .arg(tensor->floating.min())
                                     .arg(tensor->floating.max())
                                     .arg(tensor->clipLow)
                                     .arg(tensor->clipHigh));
    update();
}

void HistogramPlot::setQuiet(bool quiet) {
    if (quiet == m_quiet) return;
    m_quiet = quiet;
    update();
}

QSize HistogramPlot::sizeHint() const {
    return {fontMetrics().height() * 12, qRound(fontMetrics().height() * 4.6)};
}

double HistogramPlot::heightOf(std::uint64_t count, std::uint64_t most) const {
    if (count == 0 || most == 0) return 0;
    // Logarithmic, so that rare values are visible.
    return std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
}

QRectF HistogramPlot::area() const {
    const double unit = fontMetrics().height();
    return QRectF(rect()).adjusted(unit * 0.4, unit * 0.4, -unit * 0.4, -unit * 1.1);
}

void HistogramPlot::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double unit = fontMetrics().height();
    painter.setPen(QPen(colors.border, 1));
    painter.setBrush(colors.soft);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    if (!m_tensor) {
        painter.setPen(colors.faint);
        painter.drawText(rect().adjusted(4, 0, -4, 0), Qt::AlignCenter | Qt::TextWordWrap, m_remark);
        return;
    }
    const QRectF box = area();
    const auto &floating = m_tensor->floating.bins(), &quantized = m_tensor->quantized.bins();
    if (floating.empty()) return;
    const double low = m_tensor->floating.low(), high = m_tensor->floating.high();
    const auto place = [&](double value) { return box.left() + (value - low) / (high - low) * box.width(); };
    const double step = box.width() / static_cast<double>(floating.size());
    // Each is scaled to its own peak: a few codes contain many values, and only their positions matter.
    const auto mostFloat = *std::ranges::max_element(floating),
               mostQuantized = *std::ranges::max_element(quantized);

    QColor fill = colors.accent;
    fill.setAlpha(m_quiet ? 70 : 150);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    for (std::size_t i = 0; i < floating.size(); ++i) {
        const double height = heightOf(floating[i], mostFloat) * box.height();
        if (height > 0)
            painter.drawRect(QRectF(box.left() + static_cast<double>(i) * step, box.bottom() - height,
                                    std::max(1.0, step - 0.6), height));
    }
    QPainterPath line;
    for (std::size_t i = 0; i < quantized.size(); ++i) {
        const double height = heightOf(quantized[i], mostQuantized) * box.height();
        if (height <= 0) continue;
        const double x = box.left() + (static_cast<double>(i) + 0.5) * step;
        line.moveTo(x, box.bottom());
        line.lineTo(x, box.bottom() - height);
    }
    QColor pen = colors.quantized;
    pen.setAlpha(m_quiet ? 110 : 230);
    painter.setPen(QPen(pen, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(line);

    if (m_tensor->bits > 0) {  // values outside the limits are clipped
        QColor cut = colors.error;
        cut.setAlpha(36);
        painter.setPen(Qt::NoPen);
        painter.setBrush(cut);
        const double left = std::clamp(place(m_tensor->clipLow), box.left(), box.right());
        const double right = std::clamp(place(m_tensor->clipHigh), box.left(), box.right());
        if (left > box.left())
            painter.drawRect(QRectF(box.left(), box.top(), left - box.left(), box.height()));
        if (right < box.right())
            painter.drawRect(QRectF(right, box.top(), box.right() - right, box.height()));
        painter.setPen(QPen(colors.error, 1.2, Qt::DashLine));
        for (const double x : {place(m_tensor->clipLow), place(m_tensor->clipHigh)})
            if (x >= box.left() - 1 && x <= box.right() + 1)
                painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
    }
    painter.setPen(QPen(colors.border, 1));
    painter.drawLine(box.bottomLeft(), box.bottomRight());
    painter.setFont(scaledFont(numberFont(font()), 0.82));
    painter.setPen(colors.faint);
    const QRectF under(box.left(), box.bottom(), box.width(), unit);
    const auto text = [](double value) {
        return QString::number(value, 'g', 3).replace(QLatin1Char('-'), QChar(0x2212));
    };
    painter.drawText(under, Qt::AlignLeft | Qt::AlignVCenter, text(low));
    painter.drawText(under, Qt::AlignRight | Qt::AlignVCenter, text(high));
}

bool HistogramPlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && m_tensor && !m_tensor->floating.bins().empty()) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto count = m_tensor->floating.bins().size();
        const double share = (help->pos().x() - area().left()) / area().width();
        if (share >= 0 && share < 1) {
            const auto bin = static_cast<std::size_t>(share * static_cast<double>(count));
            const double width =
                (m_tensor->floating.high() - m_tensor->floating.low()) / static_cast<double>(count);
            const double from = m_tensor->floating.low() + width * static_cast<double>(bin);
            QToolTip::showText(
                help->globalPos(),
                withMinusSigns(tr("%1 to %2\nfloat: %3 values\nquantized: %4 values\nlimits: %5 to %6")
                                   .arg(from, 0, 'g', 4)
                                   .arg(from + width, 0, 'g', 4)
                                   .arg(m_tensor->floating.bins()[bin])
                                   .arg(m_tensor->quantized.bins()[bin])
                                   .arg(m_tensor->clipLow, 0, 'g', 4)
                                   .arg(m_tensor->clipHigh, 0, 'g', 4)),
                this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace quantloupe::ui
