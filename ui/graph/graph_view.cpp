// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <algorithm>

namespace quantloupe::ui {

GraphView::GraphView(Document* document, QWidget* parent) : QWidget(parent) {
    m_canvas = new GraphCanvas(document, this);
    m_sides = new SideBySide(document, m_canvas, this);
    connect(m_sides, &SideBySide::shownChanged, this, &GraphView::place);
    connect(m_sides, &SideBySide::described, this, &GraphView::place);
    QStringList names;
    for (std::size_t i = 0; i < kMetricsWithKey; ++i) names.append(metricShortName(kMetrics[i]));
    m_metrics = new SegmentedControl(names, false, this);
    for (std::size_t i = 0; i < kMetricsWithKey; ++i)
        m_metrics->button(static_cast<int>(i))
            ->setToolTip(QStringLiteral("%1 (%2)").arg(metricMeaning(kMetrics[i])).arg((i + 1) % 10));
    m_metricBox = new QComboBox(this);
    m_metricBox->setAccessibleName(tr("Metric that the graph shows"));
    for (const Metric metric : kMetrics) m_metricBox->addItem(metricName(metric));
    connect(m_metricBox, &QComboBox::activated, this,
            [this](int index) { m_canvas->setMetric(kMetrics[static_cast<std::size_t>(index)]); });
    const auto show = [this](Metric metric) {
        const auto index = static_cast<int>(std::ranges::find(kMetrics, metric) - kMetrics.begin());
        m_metricBox->setCurrentIndex(index);
        for (int i = 0; i < static_cast<int>(kMetricsWithKey); ++i) {
            QPushButton* button = m_metrics->button(i);
            button->setAutoExclusive(false);  // no button is checked for a metric without a segment
            button->setChecked(i == index);
            button->setAutoExclusive(true);
        }
    };
    show(m_canvas->metric());
    connect(m_metrics, &SegmentedControl::chosen, this,
            [this](int index) { m_canvas->setMetric(kMetrics[static_cast<std::size_t>(index)]); });
    connect(m_canvas, &GraphCanvas::metricChanged, this, show);

    m_zoom = new ZoomButtons(m_canvas, this);
    m_legend = new Legend(m_canvas, this);
    m_minimap = new Minimap(m_canvas, this);
    m_banner = new QFrame(this);
    m_banner->setObjectName(QStringLiteral("banner"));
    m_bannerText = new QLabel;
    m_bannerText->setTextFormat(Qt::PlainText);
    m_bannerText->setWordWrap(true);
    auto* row = new QHBoxLayout(m_banner);
    const int unit = fontMetrics().height();
    row->setContentsMargins(unit, unit / 3, unit, unit / 3);
    row->addWidget(m_bannerText);
    m_banner->hide();
    m_threshold = new ThresholdBar(document, m_canvas, this);
    connect(m_threshold, &ThresholdBar::closed, this, &GraphView::place);
    m_forecast = new PreviewForecast(document, m_canvas, this);
    connect(m_canvas, &GraphCanvas::previewChanged, this, &GraphView::showForecast);
    connect(m_forecast, &PreviewForecast::changed, this, &GraphView::showForecast);
    connect(m_canvas, &GraphCanvas::metricChanged, this, &GraphView::place);
}

/// Shows the coverage of the previewed rule and its predicted effect.
void GraphView::showForecast() {
    QString text = m_canvas->previewText();
    m_banner->setVisible(!text.isEmpty());
    if (!text.isEmpty() && !m_forecast->text().isEmpty())
        text += QStringLiteral(" \u00b7 ") + m_forecast->text();
    m_bannerText->setText(text);
    m_threshold->setForecast(m_forecast->text());
    place();
}

void GraphView::resizeEvent(QResizeEvent*) { place(); }

bool GraphView::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::FontChange ||
        event->type() == QEvent::StyleChange || event->type() == QEvent::Show)
        place();
    return QWidget::event(event);
}

void GraphView::setToolbarShown(bool shown) {
    m_toolbarShown = shown;
    place();
}

void GraphView::setLegendShown(bool shown) {
    m_legendShown = shown;
    place();
}

void GraphView::paintEvent(QPaintEvent*) { QPainter(this).fillRect(rect(), themeOf(palette()).panel); }

/// Returns the height of the toolbar. If there is not enough space for all metrics side by side, a combo box
/// lists them.
int GraphView::placeToolbar() {
    const int unit = fontMetrics().height(), gap = unit / 2;
    const bool shown = m_toolbarShown && height() > unit * 8;
    m_metrics->adjustSize();
    m_zoom->setNarrow(width() < unit * 24);
    const QSize zoom = m_zoom->sizeHint();
    const int left = width() - 2 * gap - zoom.width();
    m_zoom->setVisible(shown && left > unit * 6);
    const int room = m_zoom->isVisibleTo(this) ? left - gap : width() - 2 * gap;
    m_metrics->setVisible(shown && m_metrics->width() <= room);
    m_metricBox->setVisible(shown && !m_metrics->isVisibleTo(this));
    if (!shown) return 0;
    const int height = std::max({m_metrics->height(), m_metricBox->sizeHint().height(), zoom.height()});
    const auto middle = [&](int own) { return gap / 2 + (height - own) / 2; };
    m_metrics->move(gap, middle(m_metrics->height()));
    const QSize box = m_metricBox->sizeHint();
    m_metricBox->setGeometry(gap, middle(box.height()), std::min(box.width(), room), box.height());
    m_zoom->setGeometry(width() - gap - zoom.width(), middle(zoom.height()), zoom.width(), zoom.height());
    return height + gap;
}

/// Returns the height of the legend; `room` is the space for the canvas and the legend.
int GraphView::placeLegend(int room) {
    const int unit = fontMetrics().height();
    const QSize legend = m_legend->sizeFor(width());
    const bool shown = m_legendShown && room - legend.height() > unit * 7;
    m_legend->setVisible(shown);
    if (!shown) return 0;
    m_legend->setGeometry(0, height() - legend.height(), width(), legend.height());
    return legend.height();
}

/// Places the banner and the threshold bar, which are only visible at times, at the top of the canvas.
void GraphView::placePreview(const QRect& area, int top) {
    const int unit = fontMetrics().height(), gap = unit / 2, room = area.width() - 2 * gap;
    const int bannerWidth =
        std::min(fontMetrics().horizontalAdvance(m_bannerText->text()) + unit * 5 / 2, room);
    const int bannerHeight = std::max(m_banner->heightForWidth(bannerWidth), unit * 5 / 3 + 4);
    m_threshold->fitInto(room);
    const int barWidth = std::min(std::max(m_threshold->sizeHint().width(), unit * 34), room);
    m_threshold->setGeometry(area.left() + gap, top, barWidth, m_threshold->sizeHint().height());
    m_banner->setGeometry(area.left() + gap + (room - bannerWidth) / 2, top, bannerWidth, bannerHeight);
}

void GraphView::place() {
    const int unit = fontMetrics().height(), gap = unit / 2;
    const int above = placeToolbar(), below = placeLegend(height() - above);
    QRect area(0, above, width(), height() - above - below);
    const int mapWidth = m_minimap->sizeHint().width();
    const bool roomForMap =
        (m_sides->shown() ? width() / 2 > unit * 22 : width() > unit * 30) && area.height() > unit * 9;
    m_minimap->setVisible(roomForMap);
    m_minimap->setGeometry(width() - gap / 2 - mapWidth, area.top() + gap / 2, mapWidth, area.height() - gap);
    if (roomForMap) area.setRight(area.right() - mapWidth - gap);
    const int names = m_sides->shown() ? m_sides->height() + gap : 0, top = area.top() + gap + names;
    // Reserves space for the banner, so that it does not cover boxes when the whole graph or its start is
    // shown.
    m_sides->place(area, area.top() + gap, QMarginsF(gap, gap + names + unit * 5 / 3 + 4, gap, gap));
    placePreview(area, top);
}

}  // namespace quantloupe::ui
