// SPDX-License-Identifier: Apache-2.0
#pragma once
// The canvas and the widgets around it: a toolbar with the metric selector and the zoom buttons above, the
// minimap at the right, the legend below. Only the banner and the threshold bar of a previewed rule are over
// the canvas.

#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QWidget>

#include "graph/graph_canvas.h"
#include "graph/legend.h"
#include "graph/minimap.h"
#include "graph/preview_forecast.h"
#include "graph/side_by_side.h"
#include "graph/threshold_bar.h"
#include "graph/zoom_buttons.h"
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
    void setToolbarShown(bool shown);
    void setLegendShown(bool shown);
    QString bannerText() const { return m_banner->isHidden() ? QString() : m_bannerText->text(); }

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void place();
    int placeToolbar();
    int placeLegend(int room);
    void placePreview(const QRect& area, int top);
    void showForecast();

    GraphCanvas* m_canvas;
    SideBySide* m_sides;
    SegmentedControl* m_metrics;
    QComboBox* m_metricBox;  ///< replaces the metric switch if there is not enough space
    ZoomButtons* m_zoom;
    Legend* m_legend;
    Minimap* m_minimap;
    QFrame* m_banner;
    QLabel* m_bannerText;
    ThresholdBar* m_threshold;
    PreviewForecast* m_forecast;
    bool m_toolbarShown = true, m_legendShown = true;
};

}  // namespace quantloupe::ui
