// SPDX-License-Identifier: Apache-2.0
#pragma once
// Searches for layers to keep in float: the accepted accuracy drop, the cost to minimize, and the curve of
// evaluated sets. Applying a point of the curve is one undo step.

#include "document/document.h"
#include "panels/tune_curve.h"
#include "search/tune.h"
#include "widgets/basics.h"
#include "widgets/number_field.h"

namespace quantloupe::ui {

class TuneFinder : public QWidget {
    Q_OBJECT
  public:
    explicit TuneFinder(Document* document, QWidget* parent = nullptr);

    bool finding() const { return m_finding; }
    /// The result so far, or the last result; empty before the first search.
    const std::optional<TuneResult>& found() const { return m_found; }
    /// Starts a search if possible, or stops the running one.
    void startOrStop() { m_find->click(); }
    void take(std::size_t point);

  private:
    void enterDrop(const QString& text);
    void find();
    void adopt(const TuneResult& found);
    void stopped();
    void tell(const TuneProgress& progress);
    void refresh();
    /// Whether the current configuration is the start of the search or one of its results.
    bool applies() const;
    bool inDecibels() const;

    Document* m_document;
    NumberField* m_drop;
    QLabel* m_unit;
    SegmentedControl* m_cost;
    QPushButton* m_find;
    QLabel* m_text;
    TuneCurve* m_curve;
    double m_points = 1;  ///< the largest drop
    std::optional<TuneResult> m_found;
    QuantizationConfig m_from;  ///< the configuration that the search started from
    bool m_finding = false;
    int m_run = 0;  ///< identifies answers of earlier searches
};

}  // namespace quantloupe::ui
