// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bar over the graph for choosing the threshold of a skip rule. While the threshold changes, the bar shows
// the number of covered layers, and the graph shows which ones. Enter adds the rule, Escape closes the bar.
// The slider steps from layer to layer, worst first.

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFrame>
#include <QPushButton>
#include <QSlider>

#include "graph/graph_canvas.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class ThresholdBar : public QFrame {
    Q_OBJECT
  public:
    ThresholdBar(Document* document, GraphCanvas* canvas, QWidget* parent = nullptr);

    /// Starts with the metric shown in the graph, if rules support it. With a layer: starts at the threshold
    /// that just includes it.
    void start(NodeId layer = {});
    void finish();  ///< closes without a rule
    SkipRule rule() const;
    /// Hides the leading label if the controls need its space.
    void fitInto(int width);
    /// The predicted effect of the rule in words; may be empty.
    void setForecast(const QString& text);

    QComboBox* metricBox() const { return m_metric; }
    QDoubleSpinBox* valueBox() const { return m_value; }
    QSlider* slider() const { return m_slider; }
    QPushButton* acceptButton() const { return m_accept; }
    QString countText() const { return m_count->fullText(); }
    const ElidedLabel* effect() const { return m_effect; }

  Q_SIGNALS:
    void chosen(quantloupe::SkipRule rule);
    void closed();

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void refresh();
    void rankLayers();
    void chooseMetric(bool keepSide);
    void takeFirst(std::size_t count);
    void accept();
    SkipMetric metric() const;
    double factor() const;  ///< converts displayed values to the unit of the rule

    Document* m_document;
    GraphCanvas* m_canvas;
    QLabel* m_lead;
    QComboBox *m_metric, *m_side;
    QDoubleSpinBox* m_value;
    QSlider* m_slider;
    ElidedLabel *m_count, *m_effect;
    QPushButton *m_accept, *m_close;
    TaskMetric m_unit = TaskMetric::Top1;  ///< of leave-one-out
    std::vector<double> m_ranked;          ///< values of the quantizable layers, worst first
    std::size_t m_changed = 0;
};

}  // namespace quantloupe::ui
