// SPDX-License-Identifier: Apache-2.0
#include "window/panel_commands.h"

#include <QSettings>

#include "panels/layer_view_menu.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

PanelCommands::PanelCommands(const WindowPanels& panels, QMenu* view, QObject* parent)
    : QObject(parent), m_panels(panels) {
    view->addSeparator();
    addPanels(view->addMenu(tr("Pane&ls")));
    view->addMenu(panels.table->views());
    connect(panels.table->views(), &LayerViewMenu::chosen, this, [this] { showTab(WorkTabs::Layers); });
    addDocks(view);
}

void PanelCommands::addPanels(QMenu* menu) {
    addGraphPart(menu, tr("Graph Tool&bar"), QStringLiteral("graph/toolbar"), &GraphView::setToolbarShown);
    addGraphPart(menu, tr("L&egend"), QStringLiteral("graph/legend"), &GraphView::setLegendShown);
    const std::pair<QString, QWidget*> panels[] = {{tr("&Tuning Panel"), m_panels.tuning},
                                                   {tr("&Inspector"), m_panels.inspector},
                                                   {tr("&Layers and Results"), m_panels.work}};
    for (const auto& [name, panel] : panels) {
        QAction* action = menu->addAction(name);
        action->setCheckable(true);
        action->setChecked(true);
        connect(action, &QAction::triggered, panel, [panel = panel](bool shown) { showPanel(panel, shown); });
        // Restoring the layout also shows and hides panels.
        connect(menu, &QMenu::aboutToShow, action,
                [action, panel = panel] { action->setChecked(!panel->isHidden()); });
    }
    addTabs(menu);
    menu->addSeparator();
    addCommand(menu, tr("&Reset Panel Layout"), {},
               tr("Restores the default position and size of all "
                  "panels"),
               [this] { Q_EMIT layoutResetRequested(); });
}

/// Adds a switch for a part of the graph view, which is visible by default.
void PanelCommands::addGraphPart(QMenu* menu, const QString& text, const QString& setting,
                                 void (GraphView::*setShown)(bool)) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setChecked(QSettings().value(setting, true).toBool());
    (m_panels.graph->*setShown)(action->isChecked());
    connect(action, &QAction::toggled, this, [view = m_panels.graph, setShown, setting](bool on) {
        (view->*setShown)(on);
        QSettings().setValue(setting, on);
    });
}

void PanelCommands::addTabs(QMenu* menu) {
    QList<QAction*> actions;
    for (int i = 0; i < WorkTabs::Count; ++i)
        actions << addCommand(menu, WorkTabs::commandText(i),
                              QKeySequence(QStringLiteral("Alt+%1").arg(i + 1)), {}, [this, i] {
                                  showTab(i);
                                  m_panels.work->focusTab();
                              });
    const auto refresh = [work = m_panels.work, actions] {
        for (int i = 0; i < WorkTabs::Count; ++i) {
            const QString why = work->whyNot(i);
            actions[i]->setEnabled(why.isEmpty());
            actions[i]->setToolTip(why);
        }
    };
    connect(m_panels.work, &WorkTabs::tabsChanged, this, refresh);
    refresh();
}

void PanelCommands::showTab(int tab) {
    m_panels.work->show();
    m_panels.work->showTab(tab);
}

void PanelCommands::addDocks(QMenu* view) {
    QAction* history = m_panels.historyDock->toggleViewAction();
    history->setText(tr("&History"));
    history->setShortcut(keySequence("Ctrl+H"));
    view->addAction(history);
    QAction* workflow = view->addAction(tr("AMCT Wor&kflow"));
    workflow->setToolTip(tr("The five steps of AMCT's manual tuning as a checklist"));
    workflow->setShortcut(keySequence("Ctrl+Shift+A"));
    workflow->setCheckable(true);
    connect(workflow, &QAction::triggered, this, [this](bool on) {
        if (on)
            Q_EMIT workflowRequested();
        else
            m_panels.improveDock->hide();
    });
    const auto refresh = [this, workflow] {
        workflow->setChecked(!m_panels.improveDock->isHidden() &&
                             m_panels.improve->page() == ImprovePanel::Amct);
    };
    connect(m_panels.improve, &ImprovePanel::pageChanged, this, refresh);
    connect(m_panels.improveDock->toggleViewAction(), &QAction::toggled, this, refresh);
}

}  // namespace quantloupe::ui
