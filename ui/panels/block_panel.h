// SPDX-License-Identifier: Apache-2.0
#pragma once
// The repeated blocks of a network as a matrix: blocks by roles, in the colors of the graph's metric. It
// shares the selection of the document.

#include <QComboBox>
#include <QTableView>
#include <QWidget>

#include "panels/block_table_model.h"

namespace quantloupe::ui {

class ElidedLabel;

class BlockPanel : public QWidget {
    Q_OBJECT
  public:
    BlockPanel(Document* document, GraphCanvas* canvas, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    BlockTableModel* model() const { return m_model; }
    /// The choice of a matrix and a note, for the row above the panel; placed by the owner of the panel.
    QWidget* head() const { return m_head; }
    /// Whether the network has repeated blocks.
    bool hasBlocks() const { return !m_matrices.empty(); }

  Q_SIGNALS:
    void blocksChanged();
    void activated(quantloupe::NodeId layer);  ///< double click or Enter
    void toggleRequested();
    void menuRequested(QPoint global);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void buildHead();
    void buildView();
    void findBlocks();
    void showMatrix(int index);
    void updateNote();
    void sizeCells();
    void followSelection();
    void fromDocument();
    void toDocument();

    Document* m_document;
    GraphCanvas* m_canvas;
    std::vector<BlockMatrix> m_matrices;
    BlockTableModel* m_model;
    QTableView* m_view;
    QWidget* m_head;
    QComboBox* m_choice;  ///< hidden if there is only one matrix
    ElidedLabel* m_note;
    bool m_syncing = false;
};

}  // namespace quantloupe::ui
