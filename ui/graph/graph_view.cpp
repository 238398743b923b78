// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <algorithm>
#include <array>

namespace quantloupe::ui {

namespace {
}

GraphView::GraphView(Document* document, QWidget* parent) : QWidget(parent) {
    m_canvas = new GraphCanvas(document, this);
    QStringList names;
    for (const Metric metric : kMetrics) names.append(metricName(metric));
    m_metrics = new SegmentedControl(names, false, this);
    for (std::size_t i = 0; i < kMetrics.size(); ++i)
        m_metrics->button(static_cast<int>(i))
            ->setToolTip(QStringLiteral("%1 (%2)").arg(metricMeaning(kMetrics[i])).arg(i + 1));
    const auto show = [this](Metric metric) {
        m_metrics->setCurrentIndex(static_cast<int>(std::ranges::find(kMetrics, metric) - kMetrics.begin()));
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
    connect(m_canvas, &GraphCanvas::untilChanged, this, [this] {
        m_banner->setVisible(m_canvas->choosingUntil());
        place();
    });
    connect(m_canvas, &GraphCanvas::untilPreviewed, this, [this](const QString& text) {
        m_bannerText->setFullText(text);
        place();
    });
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
    m_canvas->setGeometry(rect());
    m_metrics->adjustSize();
    m_metrics->move(gap, gap);
    const int mapWidth = m_minimap->sizeHint().width();
    const bool roomForMap = width() > unit * 30 && height() > unit * 12;
    m_minimap->setVisible(roomForMap);
    m_minimap->setGeometry(width() - gap - mapWidth, gap, mapWidth, height() - 2 * gap);
    const QSize legend = m_legend->sizeHint();
    const int legendRoom = width() - 2 * gap - (roomForMap ? mapWidth + gap : 0);
    m_legend->setGeometry(gap, height() - gap - legend.height(), std::min(legend.width(), legendRoom),
                          legend.height());
    m_legend->setVisible(height() > unit * 10);
    const int bannerWidth =
        std::min(fontMetrics().horizontalAdvance(m_bannerText->fullText()) + unit * 5 / 2, legendRoom);
    m_banner->setGeometry(gap + (legendRoom - bannerWidth) / 2, gap * 2 + m_metrics->height(), bannerWidth,
                          unit * 5 / 3 + 4);
}

}  // namespace quantloupe::ui
