// SPDX-License-Identifier: Apache-2.0
#pragma once
// The View menu's commands for the panels around the graph: showing and hiding them, their tabs, and the
// views of the layer table.

#include <QMenu>
#include <QObject>

#include "window/window_panels.h"

namespace quantloupe::ui {

class PanelCommands : public QObject {
    Q_OBJECT
  public:
    /// Appends the commands to the View menu.
    PanelCommands(const WindowPanels& panels, QMenu* view, QObject* parent);

  Q_SIGNALS:
    void layoutResetRequested();
    /// The user wants to see AMCT's workflow.
    void workflowRequested();

  private:
    void addPanels(QMenu* menu);
    void addGraphPart(QMenu* menu, const QString& text, const QString& setting,
                      void (GraphView::*setShown)(bool));
    void addTabs(QMenu* menu);
    void addDocks(QMenu* view);
    void showTab(int tab);

    WindowPanels m_panels;
};

}  // namespace quantloupe::ui
