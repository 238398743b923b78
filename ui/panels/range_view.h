// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rows of the layer table on a scale of powers of two: the distribution of the weights, the range of the
// output and, grayed out, the values that the scheme cannot represent. Uses the selection of the document.

#include <QSortFilterProxyModel>

#include "panels/query_panel.h"
#include "session/studies/range_overview.h"

namespace quantloupe::ui {

class RangeStrips;

class RangeView : public QueryPanel {
    Q_OBJECT
  public:
    RangeView(Document* document, QSortFilterProxyModel* rows, QWidget* parent = nullptr);
    const std::vector<LayerRanges>& ranges() const { return m_ranges; }
    /// Returns the ranges of a layer; null if it has none.
    const LayerRanges* rangesOf(NodeId node) const;

  protected:
    EvaluationJob::Query makeQuery(const QuantizationConfig& config) override;
    void showAnswer(const QString& refusal) override;

  private:
    std::vector<LayerRanges> m_ranges;
    RangeStrips* m_strips;
    friend class RangeStrips;
};

}  // namespace quantloupe::ui
