// SPDX-License-Identifier: Apache-2.0
#pragma once
// Searches for the precision of each layer: the cost, the accepted accuracy drop or the budget, the
// precisions to choose from, and the curve of evaluated choices. It runs in the background while the user
// continues to edit. Applying a point of the curve is one undo step.

#include "document/document.h"
#include "jobs/search_job.h"
#include "panels/tune_curve.h"
#include "search/tune.h"
#include "widgets/basics.h"
#include "widgets/number_field.h"

namespace quantloupe::ui {

class TuneFinder : public QWidget {
    Q_OBJECT
  public:
    explicit TuneFinder(Document* document, QWidget* parent = nullptr);

    bool finding() const { return m_job.running(); }
    /// The result so far, or the last result; empty before the first search.
    const std::optional<TuneResult>& found() const { return m_found; }
    const std::optional<TuneResult>& kept() const { return m_kept; }
    /// Starts a search if possible, or stops the running one.
    void startOrStop() { m_find->click(); }
    void take(const TunePoint& point);

  Q_SIGNALS:
    void pointed(const quantloupe::TunePoint* point);  ///< the mouse is over it; null: over none

  private:
    void build();
    QWidget* buildPrecisions();
    void enterLimit(const QString& text);
    void showLimit();
    void showUnit();
    void find();
    void stop();
    std::optional<TuneOptions> options();
    void choose(TuneResult& result) const;
    void dragLimit(double at);
    void toggleKept();
    void adopt(TuneResult found);
    void forget();
    void tell(const TuneProgress& progress);
    void refresh();
    void showText();
    CostKind cost() const;
    /// The cost if the user has not chosen one, as on the command line.
    CostKind usualCost() const;
    void showUsualCost();
    bool hasBudget() const { return m_goal->currentIndex() == 1; }
    /// Whether the current configuration is the start of the search or one of its results.
    bool isOfSearch() const;
    TaskMetric metric() const;  ///< of the search

    Document* m_document;
    SearchJob m_job;
    bool m_silenced = false;  ///< the document is quiet because of the search
    SegmentedControl* m_goal;
    NumberField* m_limit;
    QLabel* m_unit;
    ChoiceBox* m_cost;
    std::vector<std::pair<Precision, QPushButton*>> m_precisions;
    QPushButton* m_find;
    QLabel* m_text;
    TuneCurve* m_curve;
    double m_drop = 1;               ///< the largest, in dropUnit()
    bool m_costChosen = false;       ///< by the user
    std::optional<double> m_budget;  ///< in the unit of the cost
    std::optional<TuneResult> m_found, m_kept;
    QString m_foundFor;         ///< the edit that led to the searched configuration
    QuantizationConfig m_from;  ///< the configuration that the search started from
    QString m_problem;          ///< why there was no search
};

}  // namespace quantloupe::ui
