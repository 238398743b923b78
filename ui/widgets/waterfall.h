// SPDX-License-Identifier: Apache-2.0
#pragma once
// A waterfall chart: each row is a bar from the value before a step to the value after it, with colors for
// losses and gains.

#include <QWidget>
#include <vector>

namespace quantloupe::ui {

struct WaterfallStep {
    QString name;
    double value = 0;
    QString valueText, changeText;
    bool loss = false;  ///< colors changeText
    QString toolTip;
};

class Waterfall : public QWidget {
    Q_OBJECT
  public:
    explicit Waterfall(QWidget* parent = nullptr);
    void setSteps(std::vector<WaterfallStep> steps);
    const std::vector<WaterfallStep>& steps() const { return m_steps; }
    void setQuiet(bool quiet);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

  private:
    double rowHeight() const { return fontMetrics().height() * 1.6; }
    std::vector<WaterfallStep> m_steps;
    bool m_quiet = false;
};

}  // namespace quantloupe::ui
