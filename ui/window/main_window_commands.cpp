// SPDX-License-Identifier: Apache-2.0
// Builds the window's commands in the order of the menus, and connects them with the panels and each other.
#include "window/data_commands.h"
#include "window/edit_commands.h"
#include "window/evaluation_commands.h"
#include "window/evaluation_notice.h"
#include "window/file_commands.h"
#include "window/help_commands.h"
#include "window/interchange_commands.h"
#include "window/last_session.h"
#include "window/layer_commands.h"
#include "window/main_window.h"
#include "window/panel_commands.h"
#include "window/recovery.h"
#include "window/reload_offer.h"
#include "window/search_preview.h"
#include "window/settings_commands.h"
#include "window/shortcut_commands.h"
#include "window/view_commands.h"
#include "window/view_state.h"

namespace quantloupe::ui {

void MainWindow::buildCommands() {
    const WindowPanels& p = m_panels;
    auto* modelActions = new ModelActions(&m_document, this);
    auto* dataCommands = new DataCommands(&m_document, p.message, modelActions, this);
    m_files =
        new FileCommands(&m_document, p.message, p.start, dataCommands, modelActions, m_resources, this);
    const auto* edit = new EditCommands(&m_document, p.table, p.work, p.summary, modelActions, this);
    m_view = new ViewCommands(&m_document, p.graph, p.table, p.message, modelActions, this);
    auto* panels = new PanelCommands(p, m_view->menu(), this);
    m_settings = new SettingsCommands(&m_document, m_view->menu(), this);
    m_layers = new LayerCommands(&m_document, p.graph, p.inspector, modelActions, this);
    m_recovery = std::make_unique<Recovery>(&m_document, p.message, m_files, this);
    auto* tour = new DemoTour(&m_document, p, m_files, m_view, m_resources, this);
    auto* evaluation = new EvaluationCommands(&m_document, p.message, p.summary, m_layers->gestures(), tour,
                                              modelActions, this);
    m_interchange = new InterchangeCommands(&m_document, p.graph->canvas(), p.summary, modelActions, this);
    auto* shortcuts = new ShortcutCommands(p.table->views(), this);
    new HelpCommands(p, tour, shortcuts, m_resources, this);
    m_layers->buildContextMenu(edit->selectActions(), m_view->placeActions(), edit->copyActions());
    shortcuts->adoptKeys();
    for (QMenu* menu : menuBar()->findChildren<QMenu*>()) menu->setToolTipsVisible(true);

    const auto* reload = new ReloadOffer(&m_document, p.message, this);
    connect(dataCommands, &DataCommands::preprocessSaved, reload, &ReloadOffer::watch);
    m_session = new LastSession(&m_document, p.message, m_files, this);
    new EvaluationNotice(&m_document, this);
    new ViewState(&m_document, p.graph->canvas(), p.table, m_view->bookmarks(), p.historyDock, this);
    new SearchPreview(&m_document, p.graph->canvas(), p.improve->finder(), this);
    connectCommands(dataCommands, panels, evaluation);
}

void MainWindow::connectCommands(DataCommands* dataCommands, PanelCommands* panels,
                                 EvaluationCommands* evaluation) {
    connect(m_files, &FileCommands::newWindowRequested, this, &MainWindow::openAnother);
    connect(m_files, &FileCommands::importRequested, m_interchange, &InterchangeCommands::chooseImport);
    connect(m_files, &FileCommands::fileImportRequested, m_interchange, &InterchangeCommands::importFrom);
    connect(panels, &PanelCommands::layoutResetRequested, this, &MainWindow::resetLayout);
    const auto showWorkflow = [this] { showImprove(ImprovePanel::Amct); };
    connect(panels, &PanelCommands::workflowRequested, this, showWorkflow);
    connect(evaluation, &EvaluationCommands::improveRequested, this, [this] {
        showImprove(m_panels.improveDock->isHidden() ? ImprovePanel::Suggestions : m_panels.improve->page());
    });
    connect(evaluation, &EvaluationCommands::searchRequested, this, [this] {
        showImprove(ImprovePanel::Search);
        m_panels.improve->finder()->startOrStop();
    });
    for (QDockWidget* dock : {m_panels.historyDock, m_panels.improveDock}) {
        // Behind another tab, the command brings the panel to the front instead of hiding it. Queued, because
        // the action hides it first.
        const auto front = std::make_shared<bool>(false);
        connect(
            dock, &QDockWidget::visibilityChanged, dock, [front](bool visible) { *front = visible; },
            Qt::QueuedConnection);
        connect(dock->toggleViewAction(), &QAction::triggered, this, [this, dock, front](bool on) {
            if (on || !*front) showDock(dock);
        });
    }

    const TuningPanel* tuning = m_panels.tuning;
    connect(tuning, &TuningPanel::chooseDataRequested, dataCommands, &DataCommands::chooseData);
    connect(tuning, &TuningPanel::chooseCalibrationRequested, dataCommands, &DataCommands::chooseCalibration);
    connect(tuning, &TuningPanel::preprocessRequested, dataCommands, &DataCommands::showPreprocess);
    connect(tuning, &TuningPanel::labelsRequested, dataCommands, &DataCommands::showLabels);
    connect(tuning, &TuningPanel::workflowRequested, this, showWorkflow);
    const GraphCanvas* canvas = m_panels.graph->canvas();
    connect(canvas, &GraphCanvas::toggleRequested, m_layers, &LayerCommands::toggle);
    connect(m_panels.table, &LayerTable::toggleRequested, m_layers, &LayerCommands::toggle);
    connect(m_panels.inspector, &Inspector::toggleRequested, m_layers, &LayerCommands::toggle);
    connect(canvas, &GraphCanvas::menuRequested, m_layers, &LayerCommands::showContextMenu);
    connect(m_panels.table, &LayerTable::menuRequested, m_layers, &LayerCommands::showContextMenu);
    connect(m_panels.work->blocks(), &BlockPanel::toggleRequested, m_layers, &LayerCommands::toggle);
    connect(m_panels.work->blocks(), &BlockPanel::menuRequested, m_layers, &LayerCommands::showContextMenu);
}

void MainWindow::connectPanels() {
    GraphCanvas* canvas = m_panels.graph->canvas();
    connect(&m_document, &Document::message, m_panels.message, &MessageBar::show);
    connect(&m_document, &Document::projectChanged, this, &MainWindow::updateTitle);
    connect(m_document.undoStack(), &QUndoStack::cleanChanged, this, &MainWindow::updateTitle);
    connect(m_panels.table, &LayerTable::activated, canvas->view(), &CanvasView::centerOn);
    connect(m_panels.table, &LayerTable::filtered, canvas, &GraphCanvas::setDimmed);
    connect(m_panels.work->blocks(), &BlockPanel::activated, canvas->view(), &CanvasView::centerOn);
    // Scrolls the graph to a layer selected in the table or in the matrix of blocks.
    connect(&m_document, &Document::selectionChanged, this, [this, canvas] {
        if (m_panels.table->view()->hasFocus() || m_panels.work->blocks()->view()->hasFocus())
            canvas->view()->ensureVisible(m_document.current());
    });
    connect(&m_document, &Document::selectionChanged, this, &MainWindow::raiseInspector);
    connect(m_panels.inspector, &Inspector::layerChosen, this, [this, canvas](NodeId layer) {
        m_document.select(layer);
        canvas->view()->ensureVisible(layer);
    });
    connect(m_panels.work, &WorkTabs::layerChosen, m_panels.inspector, &Inspector::layerChosen);
    connect(m_panels.inspector, &Inspector::layersChosen, this,
            [this](const std::vector<NodeId>& layers) { m_document.select(layers, m_document.current()); });
    connect(amctPanel(), &AmctPanel::tuningRequested, this, [this](TuningPlace place) {
        m_panels.tuning->show();
        m_panels.tuning->reveal(place);
    });
    connect(amctPanel(), &AmctPanel::layersChosen, this, [this, canvas](const std::vector<NodeId>& layers) {
        m_document.select(layers, layers.front());
        m_panels.work->show();
        m_panels.work->showTab(WorkTabs::Layers);
        canvas->view()->fitSelection();
    });
}

}  // namespace quantloupe::ui
