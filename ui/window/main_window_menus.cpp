// SPDX-License-Identifier: Apache-2.0 Menus, their shortcuts, and their enabled state.
#include <QApplication>
#include <QClipboard>
#include <QMenuBar>

#include "config/tail_rule.h"
#include "dialogs/exports.h"
#include "dialogs/latency_dialog.h"
#include "dialogs/metric_program_dialog.h"
#include "document/recent_files.h"
#include "graph/picture_export.h"
#include "panels/layer_view_menu.h"
#include "panels/override_section.h"
#include "window/main_window.h"
#include "window/tour.h"

namespace quantloupe::ui {

QAction* MainWindow::addAction(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                               std::function<void()> run) {
    QAction* action = menu->addAction(text);
    action->setShortcut(keys);
    action->setToolTip(tip);
    action->setStatusTip(tip);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    return action;
}

void MainWindow::buildMenus() {
    buildFileMenu();
    buildEditMenu();
    buildViewMenu();
    buildLayersMenu();
    buildEvaluationMenu();
    buildExportMenu();
    buildHelpMenu();
    buildContextMenu();
    m_keys.adopt(allActions());
    for (QMenu* menu : menuBar()->findChildren<QMenu*>()) menu->setToolTipsVisible(true);
}

void MainWindow::buildFileMenu() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    addAction(file, tr("New &Window"), QKeySequence::New,
              tr("Opens another window, for another model or for the same one"), [this] { openAnother(); });
    addAction(file, tr("&Open Model\u2026"), QKeySequence::Open, {}, [this] { chooseModel(); });
    addAction(file, tr("Open &Project\u2026"), QKeySequence(QStringLiteral("Ctrl+Alt+O")), {},
              [this] { chooseProject(); });
    m_needModel << addAction(file, tr("Open &Data Folder\u2026"), QKeySequence(QStringLiteral("Ctrl+D")),
                             tr("Images, or an ONNX test_data_set folder"),
                             [this] { chooseData(DataForm::Folder); })
                << addAction(file, tr("Open Data &File\u2026"), QKeySequence(QStringLiteral("Ctrl+Shift+D")),
                             tr("Arrays: .npy or .npz"), [this] { chooseData(DataForm::File); });
    m_needModel << addAction(file, tr("Open &Calibration Folder\u2026"), {}, {},
                             [this] { chooseCalibration(DataForm::Folder); })
                << addAction(file, tr("Open Cali&bration File\u2026"), {}, {},
                             [this] { chooseCalibration(DataForm::File); });
    m_needModel << addAction(file, tr("&Preprocessing\u2026"), {},
                             tr("How images are converted to network inputs"), [this] { showPreprocess(); });
    m_recentMenu = file->addMenu(tr("&Recent Files"));
    updateRecent();
    QAction* demo = addAction(file, tr("Open De&mo"), {}, {}, [this] {
        if (mayDiscard()) openDemo();
    });
    demo->setEnabled(m_hasDemo);
    file->addSeparator();
    m_needModel << addAction(file, tr("&Save Project"), QKeySequence::Save,
                             tr("Saves the model and data paths, the configuration and all results"),
                             [this] { saveProject(false); });
    m_needModel << addAction(file, tr("Save Project &As\u2026"), QKeySequence(QStringLiteral("Ctrl+Shift+S")),
                             {}, [this] { saveProject(true); });
    file->addSeparator();
    m_needModel << addAction(file, tr("Open Con&figuration\u2026"),
                             QKeySequence(QStringLiteral("Ctrl+Shift+O")), {}, [this] { chooseConfig(); });
    m_needModel << addAction(file, tr("&Import from Another Tool\u2026"),
                             QKeySequence(QStringLiteral("Ctrl+I")),
                             tr("A configuration of AMCT, Quark, CLIKA ACE, AIMET or ONNX Runtime, or of a "
                                "model quantized by Quantloupe"),
                             [this] { chooseImport(); });
    m_needModel << addAction(file, tr("Save Co&nfiguration"), {},
                             tr("Saves only the configuration, in the format of the command line"),
                             [this] { saveConfig(false); });
    m_needModel << addAction(file, tr("Save Configura&tion As\u2026"), {}, {}, [this] { saveConfig(true); });
    file->addSeparator();
    m_needModel << addAction(file, tr("Re&load Model"), QKeySequence(QStringLiteral("Ctrl+Shift+R")),
                             tr("Reads the file again and keeps your tuning"),
                             [this] { m_document.reload(); });
    file->addSeparator();
    addAction(file, tr("C&lose Window"), QKeySequence(QStringLiteral("Ctrl+W")), {}, [this] { close(); });
    addAction(file, tr("&Quit"), QKeySequence::Quit, {}, [] { QApplication::closeAllWindows(); });
}

void MainWindow::buildExportMenu() {
    m_exportMenu = menuBar()->addMenu(tr("E&xport"));
    const auto& kinds = exportKinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const QKeySequence keys = i == 0 ? QKeySequence(QStringLiteral("Ctrl+E")) : QKeySequence();
        m_needModel << addAction(m_exportMenu, QString::fromStdString(kinds[i].label), keys,
                                 QString::fromStdString(kinds[i].tip),
                                 [this, i] { chooseExport(static_cast<int>(i)); });
        if (i == 0) {  // the quantized model
            m_needModel << addAction(m_exportMenu, tr("&Verify in ONNX Runtime\u2026"),
                                     QKeySequence(QStringLiteral("Ctrl+R")),
                                     tr("Runs the quantized model in ONNX Runtime on the same samples and "
                                        "compares its accuracy with the preview"),
                                     [this] { verifyExport(); });
            m_needModel << addAction(m_exportMenu, tr("Export &Several Formats\u2026"),
                                     QKeySequence(QStringLiteral("Ctrl+Shift+E")),
                                     tr("Exports several formats into one folder"),
                                     [this] { exportSeveral(); });
            m_exportMenu->addSeparator();
        }
        if (i + 1 < kinds.size() && kinds[i + 1].family != kinds[i].family) m_exportMenu->addSeparator();
    }
    m_needModel << addPictureExports(m_exportMenu, &m_document, m_graph->canvas(), this);
    m_summary->exportButton()->setMenu(m_exportMenu);
}

void MainWindow::buildEditMenu() {
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    QUndoStack* stack = m_document.undoStack();
    QAction* undo = stack->createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = stack->createRedoAction(this, tr("&Redo"));
    redo->setShortcuts(
        {QKeySequence(QStringLiteral("Ctrl+Shift+Z")), QKeySequence(QStringLiteral("Ctrl+Y"))});
    edit->addAction(undo);
    edit->addAction(redo);
    edit->addSeparator();
    m_needModel << addAction(edit, tr("&Find Layers"), QKeySequence::Find, {}, [this] {
        m_work->show();
        m_work->showTab(WorkTabs::Layers);
        m_table->filterLine()->setFocus();
        m_table->filterLine()->selectAll();
    });
    m_needModel << addAction(
        edit, tr("Select &All Layers"), QKeySequence::SelectAll,
        tr("With a filter, or in the table, only the rows that the table shows"), [this] {
            const bool rows = m_table->isFiltered() || m_table->view()->hasFocus();
            std::vector<NodeId> all = rows ? m_table->shownLayers() : std::vector<NodeId>();
            for (std::size_t i = 0; i < m_document.graph()->nodeCount() && !rows; ++i)
                all.push_back(NodeId(i));
            const NodeId current = all.empty() ? NodeId() : all.front();
            m_document.select(std::move(all), current);
        });
    m_selectActions << addAction(edit, tr("Select &Everything Upstream"),
                                 QKeySequence(QStringLiteral("Alt+Up")),
                                 tr("The selected layers and all layers upstream of them"),
                                 [this] { selectReachable(upstreamOf); })
                    << addAction(edit, tr("Select E&verything Downstream"),
                                 QKeySequence(QStringLiteral("Alt+Down")),
                                 tr("The selected layers and all layers downstream of them"),
                                 [this] { selectReachable(downstreamOf); });
    m_needModel << m_selectActions;
    m_copyActions << addAction(
        edit, tr("Copy Layer &Names"), QKeySequence(QStringLiteral("Ctrl+Shift+C")), {}, [this] {
            QStringList names;
            for (const NodeId node : m_document.selection())
                names.append(QString::fromStdString(m_document.graph()->node(node).name));
            QApplication::clipboard()->setText(names.join(QLatin1Char('\n')));
        });
    m_needModel << m_copyActions
                << addAction(edit, tr("Copy &Table as CSV"), {}, tr("Copies the visible rows"),
                             [this] { QApplication::clipboard()->setText(m_table->asCsv()); });

    const auto mirror = [](QPushButton* button, QAction* action) {
        const auto refresh = [button, action] {
            button->setEnabled(action->isEnabled());
            const QString keys = action->shortcut().toString(QKeySequence::NativeText);
            const QString name = action->text().remove(QLatin1Char('&'));
            button->setToolTip(keys.isEmpty() ? name : QStringLiteral("%1 (%2)").arg(name, keys));
        };
        connect(action, &QAction::changed, button, refresh);
        connect(button, &QPushButton::clicked, action, &QAction::trigger);
        refresh();
    };
    mirror(m_summary->undoButton(), undo);
    mirror(m_summary->redoButton(), redo);
}

void MainWindow::buildLayersMenu() {
    m_layersMenu = menuBar()->addMenu(tr("&Layers"));
    // The graph and the table handle the Space key themselves (text fields need it as a character); the entry
    // only shows it.
    m_toggleAction =
        addAction(m_layersMenu, tr("Skip &Quantization\tSpace"), {}, {}, [this] { toggleSkip(); });
    m_untilAction = addAction(m_layersMenu, tr("Skip &Until\u2026"), QKeySequence(QStringLiteral("U")), {},
                              [this] { skipUntil(); });
    m_downstreamAction =
        addAction(m_layersMenu, tr("Skip All &Downstream"), QKeySequence(QStringLiteral("D")),
                  tr("The layer and all layers downstream of it"), [this] { skipDownstream(); });
    m_typeAction = addAction(m_layersMenu, tr("Skip All of This &Type"), QKeySequence(QStringLiteral("T")),
                             {}, [this] { skipType(); });
    buildPrecisionMenu();
    buildGestures();
    m_layersMenu->addSeparator();
    m_tailAction = m_layersMenu->addAction(tr("Skip the Tai&l"));
    m_tailAction->setCheckable(true);
    connect(m_tailAction, &QAction::triggered, this,
            [this](bool on) { runEdit([&] { return setTail(m_document.config(), on); }); });
    m_needModel << m_tailAction;
    m_layersMenu->addSeparator();
    const QList<QAction*> settings{
        addAction(m_layersMenu, tr("Copy La&yer Settings"), QKeySequence(QStringLiteral("Ctrl+Alt+C")), {},
                  [this] { m_inspector->overrides()->copySettings(); }),
        addAction(m_layersMenu, tr("&Paste Settings to Selected Layers"),
                  QKeySequence(QStringLiteral("Ctrl+Alt+V")), {},
                  [this] { m_inspector->overrides()->pasteSettings(); })};
    m_needModel << settings;
    m_copyActions << settings;
}

void MainWindow::buildEvaluationMenu() {
    QMenu* menu = menuBar()->addMenu(tr("Eval&uation"));
    m_needModel << addAction(menu, tr("&Evaluate Again"), QKeySequence(Qt::Key_F5), {},
                             [this] { m_document.evaluate(); });
    QAction* pause = menu->addAction(tr("&Pause"));
    pause->setShortcut(QKeySequence(QStringLiteral("P")));
    pause->setToolTip(tr("Pauses all evaluations, also those in the background. No results are lost."));
    pause->setCheckable(true);
    connect(pause, &QAction::triggered, m_document.job(), &EvaluationJob::setPaused);
    connect(m_document.job(), &EvaluationJob::pausedChanged, pause, &QAction::setChecked);
    m_needModel << pause;
    m_needModel << addAction(menu, tr("&Cancel"), QKeySequence(Qt::Key_Escape), tr("Stops the evaluation"),
                             [this] {
                                 if (m_tour && m_tour->running()) return m_tour->stop();
                                 if (m_gestures->cancel()) return;
                                 if (m_document.job()->busy())
                                     m_document.cancel();
                                 else
                                     m_message->dismiss();
                             });
    QAction* hold = menu->addAction(tr("&Manual Evaluation"));
    hold->setCheckable(true);
    hold->setShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+H")));
    hold->setToolTip(tr("Edits are not evaluated until you press F5 or turn this off"));
    connect(hold, &QAction::toggled, &m_document, &Document::setHeld);
    connect(&m_document, &Document::heldChanged, hold, [this, hold] { hold->setChecked(m_document.held()); });
    menu->addSeparator();
    QAction* improve = addAction(
        menu, tr("&Improve Accuracy\u2026"), QKeySequence(QStringLiteral("I")),
        tr("Suggestions, the search for precisions, and AMCT's workflow"),
        [this] { showImprove(m_improveDock->isHidden() ? ImprovePanel::Suggestions : m_improve->page()); });
    m_needModel << improve;
    m_needModel << addAction(
        menu, tr("Search &for Precisions"), {},
        tr("Finds the cheapest precision of each layer that keeps the accuracy drop within the target"),
        [this] {
            showImprove(ImprovePanel::Search);
            m_improve->finder()->startOrStop();
        });
    m_needModel << addAction(
        menu, tr("Metric P&rogram\u2026"), {},
        tr("Runs your own program on the outputs of the float and the quantized network"), [this] {
            auto* dialog = new MetricProgramDialog(m_document, this);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->show();
        });
    menu->addSeparator();
    m_needModel << addAction(menu, tr("Import &Latency Profile\u2026"), {},
                             tr("Times of layers from ONNX Runtime, TensorRT, Qualcomm, Hailo or a CSV"),
                             [this] { showLatency()->chooseProfile(); });
    m_needModel << addAction(menu, tr("Mea&sure Latency"), {},
                             tr("Measures the time of each layer of this configuration in ONNX Runtime"),
                             [this] { showLatency()->measure(); });
    connect(m_summary->improveButton(), &QPushButton::clicked, improve, &QAction::trigger);
    m_summary->improveButton()->setToolTip(improve->toolTip());
}

/// Commands for the selected layers; each entry is also in the menu bar.
void MainWindow::buildContextMenu() {
    m_contextMenu = new QMenu(this);
    m_contextMenu->setToolTipsVisible(true);
    m_contextMenu->addActions({m_toggleAction, m_untilAction, m_downstreamAction, m_typeAction});
    m_contextMenu->addMenu(m_precisionMenu);
    m_contextMenu->addActions(m_gestures->layerActions());
    m_gestures->previewIn(m_contextMenu);
    m_contextMenu->addSeparator();
    m_contextMenu->addActions(m_selectActions);
    m_contextMenu->addSeparator();
    m_contextMenu->addActions(m_placeActions);
    m_contextMenu->addActions(m_folding->layerActions());
    m_contextMenu->addSeparator();
    m_contextMenu->addActions(m_copyActions);
}

void MainWindow::updateRecent() {
    m_recentMenu->clear();
    const QStringList paths = recentModels();
    for (const QString& path : paths) {
        QAction* action = m_recentMenu->addAction(path);
        action->setProperty("comesAndGoes", true);
        connect(action, &QAction::triggered, this, [this, path] {
            if (mayDiscard()) open({path.toStdString(), {}, {}, {}});
        });
    }
    m_recentMenu->setEnabled(!paths.isEmpty());
    if (paths.isEmpty()) return;
    m_recentMenu->addSeparator();
    QAction* clear = m_recentMenu->addAction(tr("Clear List"));
    clear->setProperty("comesAndGoes", true);
    connect(clear, &QAction::triggered, this, [this] {
        forgetModels();
        updateRecent();
        m_start->refresh();
    });
}

void MainWindow::updateActions() {
    const bool model = m_document.hasModel();
    for (QAction* action : m_needModel) action->setEnabled(model);
    m_summary->exportButton()->setEnabled(model);
    m_summary->improveButton()->setEnabled(model);
    const auto& nodes = m_document.selection();
    bool anyQuantized = false, anySkipped = false;
    for (const NodeId node : nodes) {
        const LayerResult* layer = m_document.layer(node);
        if (layer && !layer->host.empty() && m_document.graph())
            if (const auto host = m_document.graph()->findNode(layer->host)) layer = m_document.layer(*host);
        anyQuantized = anyQuantized || (layer && layer->state == LayerState::Quantized);
        anySkipped = anySkipped || (layer && layer->state == LayerState::Skipped);
    }
    m_toggleAction->setText((anySkipped && !anyQuantized ? tr("&Quantize") : tr("Skip &Quantization")) +
                            QStringLiteral("\tSpace"));
    m_toggleAction->setEnabled(model && (anyQuantized || anySkipped || m_document.layers().empty()) &&
                               !nodes.empty());
    m_untilAction->setEnabled(model && (nodes.size() == 1 || nodes.size() == 2));
    m_untilAction->setText(nodes.size() == 2 ? tr("Skip &Until Here (All Between the Two)")
                                             : tr("Skip &Until\u2026"));
    m_downstreamAction->setEnabled(model && nodes.size() == 1);
    m_typeAction->setEnabled(model && nodes.size() == 1);
    m_typeAction->setText(nodes.size() == 1 && model
                              ? tr("Skip All %1 Layers (&Type)")
                                    .arg(QString::fromStdString(m_document.graph()->node(nodes[0]).op))
                              : tr("Skip All of This &Type"));
    m_tailAction->setChecked(model && m_document.config().skipTail &&
                             tailToSkip(*m_document.graph(), m_document.config().wholeTail).whyNot.empty());
    const bool editable =
        model && (anyQuantized || anySkipped || m_document.layers().empty()) && !nodes.empty();
    m_precisionMenu->setEnabled(editable);
    for (QAction* action : m_precisionActions) action->setEnabled(editable);
    m_gestures->updateActions();
}

}  // namespace quantloupe::ui
