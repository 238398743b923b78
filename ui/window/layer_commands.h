// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Layers menu and the context menu of layers: which layers are quantized, and how.

#include <QMainWindow>
#include <QObject>
#include <functional>

#include "document/document.h"
#include "graph/graph_gestures.h"
#include "graph/graph_view.h"
#include "panels/inspector.h"
#include "window/menu_actions.h"
#include "window/precision_menu.h"

namespace quantloupe::ui {

class LayerCommands : public QObject {
    Q_OBJECT
  public:
    LayerCommands(Document* document, GraphView* graph, Inspector* inspector, ModelActions* modelActions,
                  QMainWindow* window);
    GraphGestures* gestures() const { return m_gestures; }
    /// Builds the context menu of layers: the commands of the Layers menu, and those of other menus that
    /// apply to the selected layers.
    void buildContextMenu(const QList<QAction*>& select, const QList<QAction*>& place,
                          const QList<QAction*>& copy);
    void showContextMenu(QPoint global);
    /// Keeps the selected layers in float, or quantizes them again.
    void toggle();

  private:
    void addSkipping();
    void addTail();
    void addSettings(ModelActions* modelActions);
    void addPreviews();
    void skipUntil();
    void skipDownstream();
    void skipType();
    ConfigEdit betweenEdit() const;
    ConfigEdit downstreamEdit() const;
    ConfigEdit typeEdit() const;
    void apply(const std::function<ConfigEdit()>& make);
    void updateActions();
    void updateSkipping(bool anyQuantized, bool anySkipped);

    Document* m_document;
    Inspector* m_inspector;
    QMenu* m_menu;
    QMenu* m_contextMenu;
    PrecisionMenu* m_precision;
    GraphGestures* m_gestures;
    QAction *m_toggle = nullptr, *m_until = nullptr, *m_downstream = nullptr, *m_type = nullptr,
            *m_tail = nullptr;
    QList<QAction*> m_settings;  ///< copy and paste settings
};

}  // namespace quantloupe::ui
