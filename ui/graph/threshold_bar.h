// SPDX-License-Identifier: Apache-2.0
#pragma once
// "Keep in float what is above ...": a bar over the graph that shows, while the threshold moves, how many
// layers it covers and which. Enter adds the rule, Escape closes the bar. The slider steps from layer to
// layer, worst first.

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
    /// The predicted effect of the rule in words; may be empty.
    void setForecast(const QString& text);

    QComboBox* metricBox() const { return m_metric; }
    QDoubleSpinBox* valueBox() const { return m_value; }
    QSlider* slider() const { return m_slider; }
    QPushButton* acceptButton() const { return m_accept; }
    QString countText() const { return m_count->fullText(); }

  Q_SIGNALS:
    void chosen(quantloupe::SkipRule rule);
    void closed();

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void refresh();
    void showCount();
    void rankLayers();
    void chooseMetric(bool keepSide);
    void takeFirst(std::size_t count);
    void accept();
    SkipMetric metric() const;
    double factor() const;  ///< factor from displayed values to the rule's unit

    Document* m_document;
    GraphCanvas* m_canvas;
    QComboBox *m_metric, *m_side;
    QDoubleSpinBox* m_value;
    QSlider* m_slider;
    ElidedLabel* m_count;
    QString m_counted, m_forecast;
    QPushButton *m_accept, *m_close;
    std::vector<double> m_ranked;  ///< of the quantizable layers, the first to be taken first
    std::size_t m_changed = 0;
};

}  // namespace quantloupe::ui
