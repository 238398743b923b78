// SPDX-License-Identifier: Apache-2.0
#pragma once
// Searches for layers to keep in float: the accepted accuracy drop, the cost to minimize, and the curve of
// evaluated sets. Applying a point of the curve is one undo step.

#include "document.h"
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
    /// What was found so far, or last; empty before.
    const std::optional<TuneResult>& found() const { return m_found; }
    /// Begins, if there is something to search in, or stops what runs.
    void startOrStop() { m_find->click(); }
    void take(std::size_t point);

  private:
    void enterDrop(const QString& text);
    void find();
    void adopt(const TuneResult& found);
    void stopped();
    void tell(const TuneProgress& progress);
    void refresh();
    /// The configuration is the one that was searched from, or one of those found.
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
    QuantizationConfig m_from;  ///< that the search began with
    bool m_finding = false;
    int m_run = 0;  ///< tells what comes of a search before
};

}  // namespace quantloupe::ui
