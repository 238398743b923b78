// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluated choices of a search as a plot and a table; a click in the plot, Enter in the table or the
// button applies a point. The front of another search can be shown for comparison.

#include <QPushButton>
#include <QTableWidget>
#include <functional>

#include "search/tune.h"
#include "widgets/trade_off_plot.h"

namespace quantloupe::ui {

class TuneCurve : public QWidget {
    Q_OBJECT
  public:
    /// `shortName` returns the display name of a layer.
    explicit TuneCurve(std::function<QString(const std::string&)> shortName, QWidget* parent = nullptr);
    /// Selects the chosen point.
    void setResult(const TuneResult& result);
    const TuneResult& result() const { return m_result; }
    /// The current configuration: marked, and cannot be applied again.
    void setCurrent(const QuantizationConfig& config);
    /// The result of an earlier search; shown if it has the same cost and metric. Empty: none.
    void setKept(const std::optional<TuneResult>& kept, const QString& title);
    /// Why the kept result is not shown; empty if it is or if there is none.
    QString whyKeptIsHidden() const;

    TradeOffPlot* plot() const { return m_plot; }
    QTableWidget* table() const { return m_table; }

  Q_SIGNALS:
    void taken(const quantloupe::TunePoint& point);
    void pointed(const quantloupe::TunePoint* point);  ///< the mouse is over it; null: over none
    void limitDragged(double at);                      ///< on the axis
    void keepToggled();

  private:
    void fillTable();
    void fillPlot();
    void refreshButtons();
    bool keptFits() const;
    QString toolTipOf(const TuneResult& result, const TunePoint& point) const;
    const TunePoint* pointOf(std::size_t entry) const;
    int digitsOf(const TuneResult& result) const;

    std::function<QString(const std::string&)> m_shortName;
    TradeOffPlot* m_plot;
    QTableWidget* m_table;
    QPushButton *m_take, *m_keep;
    TuneResult m_result;
    std::optional<TuneResult> m_kept;
    QString m_keptTitle;
    QuantizationConfig m_current;
};

}  // namespace quantloupe::ui
