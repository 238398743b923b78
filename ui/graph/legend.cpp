// SPDX-License-Identifier: Apache-2.0
#include "graph/legend.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <vector>

#include "style/words.h"

namespace quantloupe::ui {

namespace {

struct Entry {
    const char* text;
    enum Shape { Io, Quantized, Skipped, Float, Inside } shape;
};
constexpr Entry kEntries[] = {{QT_TRANSLATE_NOOP("Words", "input, output"), Entry::Io},
                              {QT_TRANSLATE_NOOP("Words", "quantized"), Entry::Quantized},
                              {QT_TRANSLATE_NOOP("Words", "skipped"), Entry::Skipped},
                              {QT_TRANSLATE_NOOP("Words", "float"), Entry::Float},
                              {QT_TRANSLATE_NOOP("Words", "folded, fused"), Entry::Inside}};

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

QRectF barOf(double unit) { return {unit * 0.9, unit * 1.45, unit * 12.2, unit * 0.55}; }

QRectF switchOf(const QFontMetricsF& metrics) {
    const double unit = metrics.height(), width = metrics.horizontalAdvance(Words::tr("linear")) + 6;
    return {barOf(unit).right() - width, unit * 0.2, width, unit * 1.1};
}

/// Paints one color and one word per group of precisions instead of a scale.
void paintPrecisions(QPainter& painter, const QRectF& bar, const Theme& colors) {
    const QFont whole = painter.font();
    painter.setFont(scaledFont(whole, kPrecisionNameSize));
    const QFontMetricsF metrics(painter.font());
    const double width = bar.width() / kPrecisionClasses;
    for (std::size_t i = 0; i < kPrecisionClasses; ++i) {
        const double left = bar.left() + width * static_cast<double>(i);
        painter.fillRect(QRectF(left, bar.top(), width - 2, bar.height()), precisionColor(i, colors.dark));
        painter.setPen(colors.muted);
        painter.drawText(QRectF(left, bar.bottom() + 1, width, metrics.height() * 1.1),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         precisionClassName(static_cast<PrecisionClass>(i)));
    }
    painter.setFont(whole);
}

void paintScale(QPainter& painter, const MetricScale& scale, const Theme& colors, const QPointF& origin,
                const QString& nothing) {
    const QFontMetricsF metrics(painter.font());
    const double unit = metrics.height();
    const QRectF bar = barOf(unit).translated(origin);
    painter.setPen(colors.text);
    painter.drawText(QRectF(bar.left(), origin.y() + unit * 0.25, bar.width(), unit),
                     Qt::AlignLeft | Qt::AlignVCenter, metricName(scale.metric));
    if (canBeLogarithmic(scale.metric)) {
        painter.setPen(colors.accent);
        painter.drawText(switchOf(metrics).translated(origin), Qt::AlignRight | Qt::AlignVCenter,
                         scale.logarithmic ? Words::tr("log") : Words::tr("linear"));
    }
    if (!scale.any) {
        painter.setPen(QPen(colors.faint, 1, Qt::DotLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(bar);
        painter.setPen(colors.muted);
        painter.drawText(QRectF(bar.left(), bar.bottom(), bar.width(), unit * 1.1),
                         Qt::AlignLeft | Qt::AlignVCenter,
                         nothing.isEmpty() ? Words::tr("no layer has a value") : nothing);
        return;
    }
    if (scale.metric == Metric::Bits) return paintPrecisions(painter, bar, colors);
    const int steps = std::max(2, static_cast<int>(bar.width()));
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.fillRect(bar.adjusted(-1, -1, 1, 1), colors.faint);  // a pale end needs a border
    for (int i = 0; i < steps; ++i) {
        const double value = scale.axisValue((i + 0.5) / steps);
        const double left = bar.left() + bar.width() * i / steps;
        const double width = std::min(bar.width() / steps + 1, bar.right() - left);
        painter.fillRect(QRectF(left, bar.top(), width, bar.height()),
                         scaleColor(scale, scale.position(value), colors));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    const auto end = [&](double value, bool best) {
        const double x = bar.left() + scale.axisPosition(value) * bar.width();
        painter.setPen(QPen(colors.panel, 1));
        painter.setBrush(colors.text);
        painter.drawRoundedRect(QRectF(x - 2, bar.top() - 2, 4, bar.height() + 4), 1.5, 1.5);
        const QString text = (best || !scale.clipped     ? QString()
                              : scale.worst < scale.best ? QStringLiteral("\u2264 ")
                                                         : QStringLiteral("\u2265 ")) +
                             formatMetric(value, scale.metric, scale.gainMetric);
        const double width = metrics.horizontalAdvance(text);
        const double half = bar.width() / 2;
        const double left = best ? std::clamp(x - width / 2, bar.left(), bar.left() + half - width)
                                 : std::clamp(x - width / 2, bar.left() + half, bar.right() - width);
        painter.setPen(colors.muted);
        painter.drawText(QRectF(left, bar.bottom() + 1, width + 4, unit * 1.1),
                         Qt::AlignLeft | Qt::AlignVCenter, text);
    };
    end(scale.best, true);
    end(scale.worst, false);
}

constexpr std::size_t kCount = std::size(kEntries), kMaxRows = 3;

/// Arranges the entries in columns.
struct Rows {
    std::size_t count = 1;
    std::vector<double> lefts;  ///< of the columns
    double width = 0;           ///< of all columns, with the margin
};

/// Uses as few rows as the width allows, so that no entry is lost in a narrow window.
Rows rowsOf(const QFontMetricsF& metrics, double room) {
    const double unit = metrics.height(), gap = unit * 0.95;
    for (Rows rows;; ++rows.count) {
        const std::size_t columns = (kCount + rows.count - 1) / rows.count;
        std::vector<double> widths(columns, 0);
        for (std::size_t i = 0; i < kCount; ++i)
            widths[i % columns] = std::max(
                widths[i % columns], unit * 1.55 + metrics.horizontalAdvance(Words::tr(kEntries[i].text)));
        rows.lefts.clear();
        rows.width = 0;
        for (const double width : widths) {
            rows.lefts.push_back(rows.width);
            rows.width += width + gap;
        }
        if (rows.width <= room || columns == 1) return rows;
    }
}

double rowsHeight(double unit, std::size_t rows) { return (static_cast<double>(rows) + 0.2) * unit * 1.25; }

/// Places the entries next to the scale if all rows fit there, otherwise below it.
double entriesLeft(const QFontMetricsF& metrics, bool hasScale, double width) {
    const double unit = metrics.height(), beside = barOf(unit).right() + unit * 1.3;
    return hasScale && rowsOf(metrics, width - beside).count <= kMaxRows &&
                   rowsOf(metrics, width - beside).width <= width - beside
               ? beside
               : unit * 0.9;
}

}  // namespace

void paintLegend(QPainter& painter, const QRectF& area, const MetricScale& scale, const Theme& colors,
                 const QString& nothing, bool framed) {
    const QFontMetricsF metrics(painter.font());
    const double unit = metrics.height();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colors.border, 1));
    painter.setBrush(colors.panel);
    if (framed) {
        painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    } else {
        painter.fillRect(area, colors.panel);
        painter.fillRect(QRectF(area.left(), area.top(), area.width(), 1), colors.border);
    }
    const bool hasScale = scale.metric != Metric::None;
    if (hasScale) paintScale(painter, scale, colors, area.topLeft(), nothing);
    const double x = area.left() + entriesLeft(metrics, hasScale, area.width());
    const Rows rows = rowsOf(metrics, area.right() - x);
    const bool below = hasScale && x < area.left() + barOf(unit).right();
    const double height = below ? rowsHeight(unit, rows.count) : area.height(), top = area.bottom() - height;
    for (std::size_t i = 0; i < kCount; ++i) {
        const double middle =
            top + height * (0.08 + 0.84 * (static_cast<double>(i / rows.lefts.size()) + 0.5) /
                                       static_cast<double>(rows.count));
        const double left = x + rows.lefts[i % rows.lefts.size()];
        paintSwatch(painter, QRectF(left, middle - unit * 0.36, unit * 1.15, unit * 0.72), kEntries[i].shape,
                    colors);
        painter.setPen(colors.text);
        painter.drawText(
            QRectF(left + unit * 1.55, middle - unit * 0.6, area.right() - left - unit * 1.7, unit * 1.2),
            Qt::AlignLeft | Qt::AlignVCenter, Words::tr(kEntries[i].text));
    }
}

QSizeF legendSize(const QFont& font, bool hasScale, double room) {
    const QFontMetricsF metrics(font);
    const double unit = metrics.height();
    const double wide = rowsOf(metrics, 1e9).width + entriesLeft(metrics, hasScale, 1e9);
    const double width = std::min(wide, room), left = entriesLeft(metrics, hasScale, width);
    const Rows rows = rowsOf(metrics, width - left);
    const bool below = hasScale && left < barOf(unit).right();
    const double entries = rowsHeight(unit, rows.count);
    return {std::max(left + rows.width, below ? barOf(unit).right() + unit * 0.9 : 0),
            below ? barOf(unit).bottom() + unit * 1.1 + entries : std::max(entries, unit * 10 / 3)};
}

Legend::Legend(GraphCanvas* canvas, QWidget* parent) : QWidget(parent), m_canvas(canvas) {
    setMouseTracking(true);
    setFont(scaledFont(font(), 0.88));
    setAccessibleName(tr("Legend of the graph"));
    connect(canvas, &GraphCanvas::looksChanged, this, [this] {
        updateGeometry();
        m_painted = QPixmap();
        update();
    });
}

QString Legend::nothing() const {
    const bool difference = m_canvas->metric() == Metric::Difference;
    // Leave-one-out waits until the engine is idle; the other metrics do not.
    if (!difference && m_canvas->measuring() && m_canvas->metric() != Metric::LeaveOneOut)
        return tr("evaluating\u2026");
    if (m_canvas->metric() == Metric::Latency) return tr("no latency profile");
    if (!difference || m_canvas->reference().layers()) return {};
    return m_canvas->hasBaseline() ? tr("baseline not evaluated yet") : tr("one configuration so far");
}

bool Legend::hasScale() const { return m_canvas->scale().metric != Metric::None; }

QSize Legend::sizeHint() const { return sizeFor(1e9); }

QSize Legend::sizeFor(double room) const {
    const QSizeF size = legendSize(font(), hasScale(), room);
    return {static_cast<int>(std::ceil(size.width())), static_cast<int>(std::ceil(size.height()))};
}

QRectF Legend::barRect() const { return hasScale() ? barOf(QFontMetricsF(font()).height()) : QRectF(); }

QRectF Legend::switchRect() const {
    if (!hasScale() || !canBeLogarithmic(m_canvas->metric())) return {};
    return switchOf(QFontMetricsF(font()));
}

/// Called whenever the graph moves, so the painted legend is cached.
void Legend::paintEvent(QPaintEvent*) {
    const QSize pixels = (QSizeF(size()) * devicePixelRatioF()).toSize();
    if (m_painted.size() != pixels) {
        m_painted = QPixmap(pixels);
        m_painted.setDevicePixelRatio(devicePixelRatioF());
        m_painted.fill(Qt::transparent);
        QPainter painter(&m_painted);
        painter.setFont(font());
        paintLegend(painter, rect(), m_canvas->scale(), themeOf(palette()), nothing(), false);
    }
    QPainter(this).drawPixmap(0, 0, m_painted);
}

void Legend::changeEvent(QEvent* event) {
    m_painted = QPixmap();
    QWidget::changeEvent(event);
}

Legend::Grip Legend::gripAt(QPointF position) const {
    const MetricScale& scale = m_canvas->scale();
    const QRectF bar = barRect();
    if (!hasScale() || !scale.any || scale.metric == Metric::Bits || scale.fullBest == scale.fullWorst ||
        !bar.adjusted(-6, -4, 6, 4).contains(position))
        return Grip::None;
    const double best = bar.left() + scale.axisPosition(scale.best) * bar.width();
    const double worst = bar.left() + scale.axisPosition(scale.worst) * bar.width();
    const bool nearWorst = std::abs(position.x() - worst) <= std::abs(position.x() - best);
    if (std::abs(position.x() - (nearWorst ? worst : best)) > unit() * 0.8) return Grip::None;
    return nearWorst ? Grip::Worst : Grip::Best;
}

void Legend::drag(QPointF position) {
    const MetricScale& scale = m_canvas->scale();
    const QRectF bar = barRect();
    constexpr double kApart = 0.02;  // fraction of the axis
    double place = std::clamp((position.x() - bar.left()) / bar.width(), 0.0, 1.0);
    ScaleChoice choice = m_canvas->scaleChoice();
    if (scale.diverging) {  // both ends move, so that 0 keeps its color
        const double half = std::max(kApart, std::abs(place - 0.5));
        choice.worst = scale.axisValue(0.5 + half);
    } else if (m_grip == Grip::Worst) {
        place = std::max(place, std::min(1.0, scale.axisPosition(scale.best) + kApart));
        choice.worst = scale.axisValue(place);
    } else {
        place = std::min(place, std::max(0.0, scale.axisPosition(scale.worst) - kApart));
        choice.best = scale.axisValue(place);
    }
    m_canvas->setScaleChoice(choice);
}

void Legend::toggleLogarithmic() {
    if (!hasScale() || !canBeLogarithmic(m_canvas->metric())) return;
    ScaleChoice choice;  // the ends of the linear and the logarithmic scale usually differ
    choice.logarithmic = !m_canvas->scale().logarithmic;
    m_canvas->setScaleChoice(choice);
}

void Legend::resetScale() { m_canvas->setScaleChoice({}); }

void Legend::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (switchRect().contains(event->position())) {
        toggleLogarithmic();
        return;
    }
    m_grip = gripAt(event->position());
}

void Legend::mouseMoveEvent(QMouseEvent* event) {
    if (m_grip != Grip::None) {
        drag(event->position());
        return;
    }
    setCursor(gripAt(event->position()) != Grip::None    ? Qt::SplitHCursor
              : switchRect().contains(event->position()) ? Qt::PointingHandCursor
                                                         : Qt::ArrowCursor);
}

void Legend::mouseReleaseEvent(QMouseEvent*) { m_grip = Grip::None; }

void Legend::mouseDoubleClickEvent(QMouseEvent* event) {
    if (barRect().adjusted(-6, -4, 6, 4).contains(event->position())) resetScale();
}

void Legend::contextMenuEvent(QContextMenuEvent* event) {
    if (!hasScale()) return;
    QMenu menu(this);
    QAction* log = menu.addAction(tr("&Logarithmic"));
    log->setCheckable(true);
    log->setChecked(m_canvas->scale().logarithmic);
    log->setEnabled(canBeLogarithmic(m_canvas->metric()));
    connect(log, &QAction::triggered, this, &Legend::toggleLogarithmic);
    connect(menu.addAction(tr("&Reset Range")), &QAction::triggered, this, &Legend::resetScale);
    menu.addSeparator();
    connect(menu.addAction(tr("Skip Above a &Threshold\u2026")), &QAction::triggered, this,
            &Legend::thresholdRequested);
    menu.exec(event->globalPos());
}

QString Legend::scaleHint() const {
    if (m_canvas->metric() != Metric::Bits)
        return tr(". Drag the ends of the scale to adjust it; double-click to reset it.");
    return tr(
        ". <8: fewer than 8 bits for weights or activations; A>8: 8-bit weights, wider activations; W>8: "
        "wider weights");
}

bool Legend::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (barRect().adjusted(-6, -4, 6, 4).contains(help->pos()))
            QToolTip::showText(help->globalPos(), metricMeaning(m_canvas->metric()) + scaleHint(), this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

}  // namespace quantloupe::ui
