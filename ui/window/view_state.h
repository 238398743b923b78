// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stores in a project what the window shows (metric, filter, collapsed blocks, bookmarks, selection), and
// shows it again when the project is opened.

#include <QDockWidget>
#include <QObject>
#include <string>

#include "document/document.h"
#include "graph/bookmarks.h"
#include "graph/graph_canvas.h"
#include "panels/layer_table.h"

namespace quantloupe::ui {

class ViewState : public QObject {
    Q_OBJECT
  public:
    ViewState(Document* document, GraphCanvas* canvas, LayerTable* table, Bookmarks* bookmarks,
              QDockWidget* history, QObject* parent);

  private:
    std::string collect() const;
    void restore(const std::string& json);

    Document* m_document;
    GraphCanvas* m_canvas;
    LayerTable* m_table;
    Bookmarks* m_bookmarks;
    QDockWidget* m_history;
};

}  // namespace quantloupe::ui
