// SPDX-License-Identifier: Apache-2.0
#pragma once
// The canvas with what floats over it: metric switch, legend, minimap, and the banner of a rule in the
// making.

#include <QFrame>
#include <QWidget>

#include "graph/graph_canvas.h"
#include "graph/legend.h"
#include "graph/minimap.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class GraphView : public QWidget {
    Q_OBJECT
  public:
    explicit GraphView(Document* document, QWidget* parent = nullptr);
    GraphCanvas* canvas() const { return m_canvas; }

  protected:
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void place();

    GraphCanvas* m_canvas;
    SegmentedControl* m_metrics;
    Legend* m_legend;
    Minimap* m_minimap;
    QFrame* m_banner;
    ElidedLabel* m_bannerText;
};

}  // namespace quantloupe::ui
