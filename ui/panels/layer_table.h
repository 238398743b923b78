// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of all layers with its filter line; its selection and the document's are one.

#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QWidget>

#include "document.h"
#include "models/layer_table_model.h"

namespace quantloupe::ui {

class LayerTable : public QWidget {
    Q_OBJECT
  public:
    explicit LayerTable(Document* document, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    QLineEdit* filterLine() const { return m_filterLine; }
    LayerFilter* filter() const { return m_filter; }
    /// The rows that are seen, with their heads, separated by commas.
    QString asCsv() const;
    /// The layer after (step 1) or before (-1) the current one in the order that is shown.
    NodeId neighbour(int step) const;

  Q_SIGNALS:
    void activated(quantloupe::NodeId layer);  ///< double click or Enter
    void toggleRequested();
    void menuRequested(QPoint global);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void fromDocument();
    void toDocument();
    void updateCount();
    void sizeColumns();

    Document* m_document;
    LayerTableModel* m_model;
    LayerFilter* m_filter;
    QTableView* m_view = nullptr;
    QLineEdit* m_filterLine;
    QLabel* m_nothing = nullptr;  ///< over the empty table
    QLabel* m_count;
    bool m_syncing = false;
};

}  // namespace quantloupe::ui
