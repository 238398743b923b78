// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluated sets of float layers as a plot and a table; a click in the plot, Enter in the table or the
// button chooses a point.

#include <QPushButton>
#include <QTableWidget>

#include "search/tune.h"
#include "widgets/trade_off_plot.h"

namespace quantloupe::ui {

class TuneCurve : public QWidget {
    Q_OBJECT
  public:
    explicit TuneCurve(QWidget* parent = nullptr);
    /// Selects the chosen point.
    void setResult(const TuneResult& result);
    /// The current configuration: marked, and cannot be applied again.
    void setCurrent(const QuantizationConfig& config);

    TradeOffPlot* plot() const { return m_plot; }
    QTableWidget* table() const { return m_table; }

  Q_SIGNALS:
    void taken(std::size_t point);

  private:
    void fillTable();
    void fillPlot();
    void refreshButton();

    TradeOffPlot* m_plot;
    QTableWidget* m_table;
    QPushButton* m_take;
    TuneResult m_result;
    QuantizationConfig m_current;
};

/// "88.4 %" or "23.1 dB", as the result's metric is.
QString tuneMetricText(const TuneResult& result, double metric);

}  // namespace quantloupe::ui
