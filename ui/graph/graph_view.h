// SPDX-License-Identifier: Apache-2.0
#pragma once
// The canvas with its overlays: metric switch, legend, minimap, and the banner or threshold bar of a
// previewed rule.

#include <QComboBox>
#include <QFrame>
#include <QWidget>

#include "graph/graph_canvas.h"
#include "graph/legend.h"
#include "graph/minimap.h"
#include "graph/preview_forecast.h"
#include "graph/side_by_side.h"
#include "graph/threshold_bar.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class GraphView : public QWidget {
    Q_OBJECT
  public:
    explicit GraphView(Document* document, QWidget* parent = nullptr);
    GraphCanvas* canvas() const { return m_canvas; }
    SideBySide* sideBySide() const { return m_sides; }
    Legend* legend() const { return m_legend; }
    ThresholdBar* thresholdBar() const { return m_threshold; }
    QString bannerText() const { return m_banner->isHidden() ? QString() : m_bannerText->fullText(); }

  protected:
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void place();
    void showForecast();

    GraphCanvas* m_canvas;
    SideBySide* m_sides;
    SegmentedControl* m_metrics;
    QComboBox* m_metricBox;  ///< replaces the metric switch where there is no room for it
    Legend* m_legend;
    Minimap* m_minimap;
    QFrame* m_banner;
    ElidedLabel* m_bannerText;
    ThresholdBar* m_threshold;
    PreviewForecast* m_forecast;
};

}  // namespace quantloupe::ui
