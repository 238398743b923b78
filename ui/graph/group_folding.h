// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collapses and expands groups of layers on the graph. The visible part keeps its position, and the selection
// is kept.

#include <QAction>
#include <QMenu>
#include <QObject>

#include "document/document.h"
#include "graph/graph_canvas.h"

namespace quantloupe::ui {

class GroupFolding : public QObject {
    Q_OBJECT
  public:
    GroupFolding(Document* document, GraphCanvas* canvas, QObject* parent = nullptr);

    void addTo(QMenu* menu);
    const QList<QAction*>& actions() const { return m_actions; }
    /// The entry for the block around the current layer.
    QList<QAction*> layerActions() const { return m_actions.mid(0, 1); }

    /// Expands the current box if it is a collapsed group, otherwise collapses the block around the current
    /// layer.
    void toggle();
    void collapseOuter();  ///< the next larger group
    void collapseAll();    ///< all blocks
    void expandAll();

  private:
    void set(std::vector<std::string> collapsed, NodeId still);
    void setAll(std::vector<std::string> collapsed);
    void collapse(std::size_t group);
    void expand(std::size_t group);
    void setOpened(const Group& group, bool open);
    void checkRequested();
    const Picture* picture() const { return m_canvas->picture(); }

    Document* m_document;
    GraphCanvas* m_canvas;
    QList<QAction*> m_actions;
    std::string m_requested;  ///< the group that was collapsed last, until it is drawn
    bool m_fits = false;      ///< the next picture is fitted into the view
};

}  // namespace quantloupe::ui
