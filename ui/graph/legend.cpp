// SPDX-License-Identifier: Apache-2.0
#include "graph/legend.h"

#include <QPainter>
#include <algorithm>

namespace quantloupe::ui {

namespace {

struct Entry {
    const char* text;
    enum Shape { Io, Quantized, Skipped, Float, Inside } shape;
};
constexpr Entry kEntries[] = {{"input, output", Entry::Io},
                              {"quantized", Entry::Quantized},
                              {"skipped", Entry::Skipped},
                              {"float only", Entry::Float},
                              {"folded, fused", Entry::Inside}};

void paintSwatch(QPainter& painter, const QRectF& box, Entry::Shape shape, const Theme& colors) {
    QColor outline = colors.io, fill = colors.ioFill;
    if (shape == Entry::Quantized) outline = colors.quantized, fill = colors.quantizedFill;
    if (shape == Entry::Skipped || shape == Entry::Float) outline = colors.inFloat, fill = colors.inFloatFill;
    if (shape == Entry::Inside) outline = colors.folded, fill = colors.foldedFill;
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawRoundedRect(box, 2, 2);
    QPen pen(outline, 1.4);
    if (shape == Entry::Skipped) {
        painter.save();
        painter.setClipRect(box.adjusted(1, 1, -1, -1));
        painter.setPen(QPen(outline, 1));
        for (double x = box.left() - box.height(); x < box.right(); x += 4)
            painter.drawLine(QPointF(x, box.bottom()), QPointF(x + box.height(), box.top()));
        painter.restore();
        pen.setDashPattern({2, 1.4});
    }
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box, 2, 2);
    painter.fillRect(QRectF(box.left(), box.top() + 1, 2.5, box.height() - 2), outline);
}

}  // namespace

Legend::Legend(GraphCanvas* canvas, QWidget* parent) : QWidget(parent), m_canvas(canvas) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFont(scaledFont(font(), 0.88));
    setAccessibleName(QStringLiteral("Legend of the graph"));
    connect(canvas, &GraphCanvas::looksChanged, this, [this] {
        updateGeometry();
        update();
    });
}

QSize Legend::sizeHint() const {
    const int unit = fontMetrics().height();
    int width = unit * 10;  // the scale with the longest words
    for (const Entry& entry : kEntries)
        width += fontMetrics().horizontalAdvance(QLatin1String(entry.text)) + unit * 5 / 2;
    return {width + unit * 2, unit * 9 / 4};
}

void Legend::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colors.border, 1));
    painter.setBrush(colors.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    const double unit = fontMetrics().height();
    double x = unit * 0.8;

    const MetricScale& scale = m_canvas->scale();
    if (scale.metric != Metric::None) {
        const QString worst = scale.any ? (scale.clipped ? scale.metric == Metric::Sqnr ? QStringLiteral("\u2264 ")
                                                                                        : QStringLiteral("\u2265 ")
                                                         : QString()) +
                                              formatMetric(scale.worst, scale.metric)
                                        : QString();
        const double words = fontMetrics().horizontalAdvance(metricName(scale.metric)) +
                             fontMetrics().horizontalAdvance(worst) + unit * 0.8;
        const double barWidth = std::max(unit * 6.2, words), barHeight = unit * 0.45;
        const QRectF top(x, unit * 0.15, barWidth, unit);
        painter.setPen(colors.text);
        painter.drawText(top, Qt::AlignLeft | Qt::AlignVCenter, metricName(scale.metric));
        if (scale.any) {
            painter.setPen(colors.muted);
            painter.drawText(top, Qt::AlignRight | Qt::AlignVCenter, worst);
        }
        const int steps = 24;
        for (int i = 0; i < steps; ++i)
            painter.fillRect(QRectF(x + barWidth * i / steps, unit * 1.35, barWidth / steps + 0.5, barHeight),
                             heatColor((i + 0.5) / steps));
        x += barWidth + unit * 1.3;
    }
    painter.setPen(colors.text);
    for (const Entry& entry : kEntries) {
        const QRectF swatch(x, height() / 2.0 - unit * 0.36, unit * 1.15, unit * 0.72);
        paintSwatch(painter, swatch, entry.shape, colors);
        x += unit * 1.55;
        painter.setPen(colors.text);
        painter.drawText(QRectF(x, 0, width() - x, height()), Qt::AlignLeft | Qt::AlignVCenter,
                         QLatin1String(entry.text));
        x += fontMetrics().horizontalAdvance(QLatin1String(entry.text)) + unit * 0.95;
    }
}

}  // namespace quantloupe::ui
