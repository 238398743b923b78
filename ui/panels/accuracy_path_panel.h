// SPDX-License-Identifier: Apache-2.0
#pragma once
// Accuracy loss by step: from the float network, transform by transform, to quantized weights and
// activations.

#include <QLabel>

#include "panels/query_panel.h"
#include "widgets/waterfall.h"

namespace quantloupe::ui {

class AccuracyPathPanel : public QueryPanel {
    Q_OBJECT
  public:
    explicit AccuracyPathPanel(Document* document, QWidget* parent = nullptr);
    const Waterfall* waterfall() const { return m_waterfall; }

  protected:
    EvaluationJob::Query makeQuery(const QuantizationConfig& config) override;
    void showAnswer(const QString& refusal) override;

  private:
    std::vector<AccuracyStep> m_path;
    QLabel* m_verdict;
    Waterfall* m_waterfall;
};

/// Return the steps as rows, in the metric of the accuracies, and a text about the step with the largest loss
/// (empty if there is no loss).
std::vector<WaterfallStep> waterfallSteps(const std::vector<AccuracyStep>& path);
QString costliestStep(const std::vector<AccuracyStep>& path);

}  // namespace quantloupe::ui
