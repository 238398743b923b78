// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <algorithm>
#include <array>

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
            ->setToolTip(QStringLiteral("%1 (%2)").arg(metricMeaning(kMetrics[i])).arg(i + 1));
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
            button->setAutoExclusive(false);  // a metric without a segment checks none
            button->setChecked(i == index);
            button->setAutoExclusive(true);
        }
    };
    show(m_canvas->metric());
    connect(m_metrics, &SegmentedControl::chosen, this,
            [this](int index) { m_canvas->setMetric(kMetrics[static_cast<std::size_t>(index)]); });
    connect(m_canvas, &GraphCanvas::metricChanged, this, show);

    m_legend = new Legend(m_canvas, this);
    m_minimap = new Minimap(m_canvas, this);
    m_banner = new QFrame(this);
    m_banner->setObjectName(QStringLiteral("banner"));
    m_bannerText = new ElidedLabel;
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

/// The coverage of the previewed rule and its predicted effect.
void GraphView::showForecast() {
    QString text = m_canvas->previewText();
    m_banner->setVisible(!text.isEmpty());
    if (!text.isEmpty() && !m_forecast->text().isEmpty())
        text += QStringLiteral(" \u00b7 ") + m_forecast->text();
    m_bannerText->setFullText(text);
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

void GraphView::place() {
    const int unit = fontMetrics().height(), gap = unit * 3 / 4;
    m_metrics->adjustSize();
    m_metrics->move(gap, gap);
    m_metricBox->adjustSize();
    m_metricBox->move(gap, gap);
    const int mapWidth = m_minimap->sizeHint().width();
    // Of the half under it, if there are two.
    const bool roomForMap =
        (m_sides->shown() ? width() / 2 > unit * 22 : width() > unit * 30) && height() > unit * 12;
    m_minimap->setVisible(roomForMap);
    m_minimap->setGeometry(width() - gap - mapWidth, gap, mapWidth, height() - 2 * gap);
    const int legendRoom = width() - 2 * gap - (roomForMap ? mapWidth + gap : 0);
    const QSize legend = m_legend->sizeFor(legendRoom);
    m_metrics->setVisible(m_metrics->width() <= legendRoom);
    m_metricBox->setVisible(!m_metrics->isVisibleTo(this));
    m_legend->setGeometry(gap, height() - gap - legend.height(), legend.width(), legend.height());
    m_legend->setVisible(height() > unit * 10);
    const int bannerWidth =
        std::min(fontMetrics().horizontalAdvance(m_bannerText->fullText()) + unit * 5 / 2, legendRoom);
    const int barWidth = std::min(std::max(m_threshold->sizeHint().width(), unit * 34), legendRoom);
    const int names = gap * 2 + m_metrics->height(),
              top = names + (m_sides->shown() ? m_sides->height() + gap / 2 : 0);
    m_threshold->setGeometry(gap, top, barWidth, m_threshold->sizeHint().height());
    const int bannerHeight = unit * 5 / 3 + 4;
    // With room for the banner, so that it covers no box of a graph that is shown whole or from its start.
    m_sides->place(rect(), names,
                   QMarginsF(gap, top + bannerHeight + gap / 2, roomForMap ? mapWidth + 2 * gap : gap,
                             m_legend->isVisibleTo(this) ? legend.height() + 2 * gap : gap));
    m_banner->setGeometry(gap + (legendRoom - bannerWidth) / 2, top, bannerWidth, bannerHeight);
}

}  // namespace quantloupe::ui
