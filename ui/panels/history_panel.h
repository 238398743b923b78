// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluated configurations, newest first. A click returns to a configuration, as one undo step. All
// configurations are compared with the pinned one; two selected configurations are compared with each other.
// A plot below shows the accuracy against the cost of float layers.

#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QTableView>
#include <QWidget>

#include "models/flipped_model.h"
#include "models/history_model.h"
#include "widgets/basics.h"
#include "widgets/trade_off_plot.h"

namespace quantloupe::ui {

class HistoryPanel : public QWidget {
    Q_OBJECT
  public:
    explicit HistoryPanel(Document* document, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    TradeOffPlot* plot() const { return m_plot; }
    /// The comparison of the two selected configurations; empty if there is none.
    QString comparison() const { return m_compared->isHidden() ? QString() : m_comparison->text(); }

  private:
    void buildTable();
    QWidget* buildNote();
    QWidget* buildComparison();
    QWidget* buildPlot();
    void showMenu(QPoint at);
    void refresh();
    void refreshPlot();
    void selectionChanged();
    void compare(std::size_t before, std::size_t after);
    std::vector<std::size_t> selectedEntries() const;

    Document* m_document;
    HistoryModel* m_model;
    QTableView* m_view;
    QLabel* m_hint;
    QWidget *m_described, *m_compared;
    QLineEdit *m_name, *m_note;
    QLabel *m_comparison, *m_words;
    FlippedModel* m_flips;
    QListView* m_flipView;
    TradeOffPlot* m_plot;
    SegmentedControl* m_cost;
    bool m_comparing = false;             ///< the comparison is not answered yet
    std::optional<std::string> m_edited;  ///< version of the entry that name and note belong to
};

}  // namespace quantloupe::ui
