// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tuning measured, as a plot and as a table; a click in the plot, Enter or the button in the table choose a point.

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
    /// The configuration that is current: marked, and not to be taken again.
    void setCurrent(const QuantizationConfig& config);

    TradeOffPlot* plot() const { return m_plot; }
    QTableWidget* table() const { return m_table; }
    QPushButton* takeButton() const { return m_take; }

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
