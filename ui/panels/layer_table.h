// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of all layers with its filter line. It shares the selection of the document.

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSet>
#include <QStackedWidget>
#include <QTableView>
#include <QWidget>
#include <array>
#include <filesystem>

#include "document/document.h"
#include "model/reachability.h"
#include "models/layer_filter.h"
#include "models/layer_views.h"

namespace quantloupe::ui {

class ElidedLabel;
class LayerViewMenu;
class RangeView;

class LayerTable : public QWidget {
    Q_OBJECT
  public:
    explicit LayerTable(Document* document, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    /// Filter line and count for the row above the table; placed by the owner of the table.
    QWidget* head() const { return m_head; }
    QLineEdit* filterLine() const { return m_filterLine; }
    LayerFilter* filter() const { return m_filter; }
    /// Shows ranges on a scale of powers of two instead of the table, with the same rows.
    void showRanges(bool on);
    LayerViewMenu* views() const { return m_viewMenu; }
    /// Returns the current view, without a name.
    LayerView present() const;
    void apply(const LayerView& view);
    QString columnTitle(int column) const;
    /// Returns the visible rows with their headings, separated by commas; also the columns that are only
    /// hidden because there is no room.
    QString asCsv() const;
    /// Returns the visible rows.
    std::vector<NodeId> shownLayers() const;
    bool isFiltered() const { return m_filter->hasTerms(); }
    /// Returns the layer after (step 1) or before (-1) the current one in the displayed order.
    NodeId neighbor(int step) const;

  Q_SIGNALS:
    void activated(quantloupe::NodeId layer);  ///< double click or Enter
    void toggleRequested();
    void menuRequested(QPoint global);
    /// The layers that the filter's terms do not match; empty without a filter.
    void filtered(quantloupe::NodeSet others);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void buildHead();
    void fitHead();
    void showColumnMenu(const QPoint& global);
    void restoreColumns();
    void saveColumns() const;
    void chooseColumn(int column, bool shown);
    void fitColumns();
    bool isHidden(int column) const;
    bool isWanted(int column) const;
    void fromDocument();
    void showCurrent();
    void toDocument();
    void updateCount();
    void reportFiltered();
    void enterRows();
    void sizeColumns();

    Document* m_document;
    LayerTableModel* m_model;
    LayerFilter* m_filter;
    QWidget* m_head;
    QTableView* m_view = nullptr;
    QLineEdit* m_filterLine;
    std::filesystem::path m_filteredModel;  ///< the model that was shown when the filter was entered
    QLabel* m_nothing = nullptr;            ///< over the empty table
    QLabel* m_count;
    ElidedLabel* m_complaint;
    QPushButton *m_all, *m_ranges, *m_columns, *m_views;
    LayerViewMenu* m_viewMenu = nullptr;
    QStackedWidget* m_pages;
    RangeView* m_rangeView;
    bool m_hiding = false;  ///< the filter removes rows, whose layers stay selected in the document
    bool m_syncing = false;
    bool m_currentInView = false;  ///< before the rows are sorted again
    bool m_fitting = false;
    QSet<int> m_hiddenColumns, m_shownColumns;  ///< by choice; others are shown if there is room
    std::array<int, LayerTableModel::ColumnCount> m_columnWidths{};
    NodeSet m_others;  ///< as last reported
};

}  // namespace quantloupe::ui
