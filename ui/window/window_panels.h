// SPDX-License-Identifier: Apache-2.0
#pragma once
// The panels of a window, for commands that concern several of them. The window builds and owns them.

#include <QDockWidget>

#include "graph/graph_view.h"
#include "panels/history_panel.h"
#include "panels/improve_panel.h"
#include "panels/inspector.h"
#include "panels/layer_table.h"
#include "panels/message_bar.h"
#include "panels/start_page.h"
#include "panels/status_line.h"
#include "panels/summary_bar.h"
#include "panels/tuning_panel.h"
#include "panels/work_tabs.h"

namespace quantloupe::ui {

/// Shows or hides a panel, with its dock if it is in one.
inline void showPanel(QWidget* panel, bool shown) {
    panel->setVisible(shown);
    auto* dock = qobject_cast<QDockWidget*>(panel->parentWidget());
    if (!dock) return;
    dock->setVisible(shown);
    if (shown) dock->raise();
}

struct WindowPanels {
    SummaryBar* summary = nullptr;
    MessageBar* message = nullptr;
    StartPage* start = nullptr;
    StatusLine* status = nullptr;
    TuningPanel* tuning = nullptr;
    GraphView* graph = nullptr;
    LayerTable* table = nullptr;
    WorkTabs* work = nullptr;
    Inspector* inspector = nullptr;
    HistoryPanel* history = nullptr;
    QDockWidget* historyDock = nullptr;
    ImprovePanel* improve = nullptr;
    QDockWidget* improveDock = nullptr;
};

}  // namespace quantloupe::ui
