// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Edit menu: undo, selecting layers, and copying their names and values.

#include <QMainWindow>
#include <QObject>

#include "document/document.h"
#include "panels/layer_table.h"
#include "panels/summary_bar.h"
#include "panels/work_tabs.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

class EditCommands : public QObject {
    Q_OBJECT
  public:
    /// The buttons of `summary` also undo and redo.
    EditCommands(Document* document, LayerTable* table, WorkTabs* work, SummaryBar* summary,
                 ModelActions* modelActions, QMainWindow* window);
    /// The commands that extend the selection.
    const QList<QAction*>& selectActions() const { return m_selectActions; }
    /// The commands that copy the selected layers.
    const QList<QAction*>& copyActions() const { return m_copyActions; }

  private:
    void addUndo(QMenu* edit, SummaryBar* summary);
    void addSelecting(QMenu* edit, ModelActions* modelActions);
    void addCopying(QMenu* edit, ModelActions* modelActions);
    void findLayers();
    void selectAll();
    void selectReachable(NodeSet (*reach)(const Graph&, std::span<const NodeId>));

    Document* m_document;
    LayerTable* m_table;
    WorkTabs* m_work;
    QList<QAction*> m_selectActions, m_copyActions;
};

}  // namespace quantloupe::ui
