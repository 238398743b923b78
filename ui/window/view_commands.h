// SPDX-License-Identifier: Apache-2.0
#pragma once
// The View menu's commands for the graph: zoom, metric, layout, blocks, bookmarks, and going from layer to
// layer.

#include <QMainWindow>
#include <QObject>

#include "document/document.h"
#include "graph/bookmarks.h"
#include "graph/graph_view.h"
#include "graph/group_folding.h"
#include "graph/selection_history.h"
#include "panels/layer_table.h"
#include "panels/message_bar.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

class ViewCommands : public QObject {
    Q_OBJECT
  public:
    ViewCommands(Document* document, GraphView* graph, LayerTable* table, MessageBar* message,
                 ModelActions* modelActions, QMainWindow* window);
    QMenu* menu() const { return m_menu; }
    Bookmarks* bookmarks() const { return m_bookmarks; }
    /// The commands for the place of the selected layers on the graph.
    QList<QAction*> placeActions() const { return m_placeActions + m_folding->layerActions(); }
    /// Selects the most sensitive layer and makes it visible. Returns false without metrics.
    bool selectMostSensitive();

  private:
    QAction* add(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                 std::function<void()> run);
    void addZoom();
    void addMetrics(QMenu* menu);
    void addLayouts(QMenu* menu);
    void addBlocks(QMenu* menu);
    void addSideBySide();
    void addNavigation();
    void fitGraph();
    void goToWorse(int step);
    void goToMatch(int step);

    Document* m_document;
    GraphView* m_graph;
    GraphCanvas* m_canvas;
    LayerTable* m_table;
    MessageBar* m_message;
    ModelActions* m_modelActions;
    QMenu* m_menu;
    Bookmarks* m_bookmarks = nullptr;
    GroupFolding* m_folding = nullptr;
    SelectionHistory* m_selections = nullptr;
    QList<QAction*> m_placeActions;
};

}  // namespace quantloupe::ui
