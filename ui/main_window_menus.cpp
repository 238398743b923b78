// SPDX-License-Identifier: Apache-2.0
// Menus, their shortcuts, and when they are enabled.
#include <QApplication>
#include <QClipboard>
#include <QSettings>
#include <QMenuBar>
#include <QMessageBox>

#include "exports.h"
#include "graph/picture_export.h"
#include "main_window.h"
#include "panels/layer_view_menu.h"
#include "recent_files.h"

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
    buildExportMenu();
    buildHelpMenu();
    m_keys.adopt(allActions());
    for (QMenu* menu : menuBar()->findChildren<QMenu*>()) menu->setToolTipsVisible(true);
}

void MainWindow::buildFileMenu() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    addAction(file, tr("New &window"), QKeySequence::New, tr("For another model, or the same one beside"),
              [this] { openAnother(); });
    addAction(file, tr("&Open model\u2026"), QKeySequence::Open, {}, [this] { chooseModel(); });
    addAction(file, tr("Open &project\u2026"), QKeySequence(QStringLiteral("Ctrl+Alt+O")), {},
              [this] { chooseProject(); });
    m_needModel << addAction(file, tr("Open &data folder\u2026"), QKeySequence(QStringLiteral("Ctrl+D")), {},
                             [this] { chooseData(); });
    m_needModel << addAction(file, tr("Open &calibration folder\u2026"), {}, {},
                             [this] { chooseCalibration(); });
    m_needModel << addAction(file, tr("&Preprocessing\u2026"), {}, tr("How images become the network's inputs"),
                             [this] { showPreprocess(); });
    m_recentMenu = file->addMenu(tr("&Recent"));
    updateRecent();
    QAction* demo = addAction(file, tr("Open de&mo"), {}, {}, [this] {
        if (mayDiscard()) openDemo();
    });
    demo->setEnabled(m_hasDemo);
    file->addSeparator();
    m_needModel << addAction(file, tr("&Save project"), QKeySequence::Save,
                             tr("Model, data, configuration and all that was measured"),
                             [this] { saveProject(false); });
    m_needModel << addAction(file, tr("Save project &as\u2026"), QKeySequence(QStringLiteral("Ctrl+Shift+S")),
                             {}, [this] { saveProject(true); });
    file->addSeparator();
    m_needModel << addAction(file, tr("Open con&figuration\u2026"),
                             QKeySequence(QStringLiteral("Ctrl+Shift+O")), {}, [this] { chooseConfig(); });
    m_needModel << addAction(
        file, tr("&Import from another tool\u2026"), QKeySequence(QStringLiteral("Ctrl+I")),
        tr("A configuration of AMCT, Quark, CLIKA ACE, AIMET or ONNX Runtime, or of a model quantized here"),
        [this] { chooseImport(); });
    m_needModel << addAction(file, tr("Save co&nfiguration"), {},
                             tr("The configuration alone, as the command line reads it"),
                             [this] { saveConfig(false); });
    m_needModel << addAction(file, tr("Save configura&tion as\u2026"), {}, {}, [this] { saveConfig(true); });
    file->addSeparator();
    m_needModel << addAction(file, tr("Re&load the model"), QKeySequence(QStringLiteral("Ctrl+Shift+R")),
                             tr("Reads the file again and carries the tuning over"),
                             [this] { m_document.reload(); });
    file->addSeparator();
    addAction(file, tr("C&lose window"), QKeySequence(QStringLiteral("Ctrl+W")), {}, [this] { close(); });
    addAction(file, tr("&Quit"), QKeySequence::Quit, {}, [] { QApplication::closeAllWindows(); });
}

void MainWindow::buildExportMenu() {
    m_exportMenu = menuBar()->addMenu(tr("E&xport"));
    m_needModel << addAction(m_exportMenu, tr("&Will it hold?"), QKeySequence(QStringLiteral("Ctrl+R")),
                             tr("Runs the quantized model in ONNX Runtime on the same samples, and puts its "
                                "accuracy beside the preview's"),
                             [this] { verifyExport(); });
    m_needModel << addAction(m_exportMenu, tr("Export &several\u2026"),
                             QKeySequence(QStringLiteral("Ctrl+Shift+E")),
                             tr("Several exports into one folder"), [this] { exportSeveral(); });
    m_exportMenu->addSeparator();
    const auto& kinds = exportKinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const QKeySequence keys = i == 0 ? QKeySequence(QStringLiteral("Ctrl+E")) : QKeySequence();
        m_needModel << addAction(m_exportMenu, QString::fromStdString(kinds[i].label), keys,
                                 QString::fromStdString(kinds[i].tip),
                                 [this, i] { chooseExport(static_cast<int>(i)); });
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
    m_needModel << addAction(edit, tr("&Find layers"), QKeySequence::Find, {}, [this] {
        m_work->show();
        m_work->showTab(WorkTabs::Layers);
        m_table->filterLine()->setFocus();
        m_table->filterLine()->selectAll();
    });
    m_needModel << addAction(edit, tr("Select &all layers"), QKeySequence::SelectAll, {}, [this] {
        std::vector<NodeId> all;
        for (std::size_t i = 0; i < m_document.graph()->nodeCount(); ++i) all.push_back(NodeId(i));
        const NodeId current = all.empty() ? NodeId() : all.front();
        m_document.select(std::move(all), current);
    });
    m_needModel << addAction(edit, tr("Select everything &upstream"), QKeySequence(QStringLiteral("Alt+Up")),
                             tr("The selected layers and all whose data flows into them"), [this] { selectReachable(upstreamOf); })
                << addAction(edit, tr("Select everything &downstream"), QKeySequence(QStringLiteral("Alt+Down")),
                             tr("The selected layers and all that their data flows to"), [this] { selectReachable(downstreamOf); });
    m_needModel << addAction(
        edit, tr("Copy layer &names"), QKeySequence(QStringLiteral("Ctrl+Shift+C")), {}, [this] {
            QStringList names;
            for (const NodeId node : m_document.selection())
                names.append(QString::fromStdString(m_document.graph()->node(node).name));
            QApplication::clipboard()->setText(names.join(QLatin1Char('\n')));
        });
    m_needModel << addAction(edit, tr("Copy &table as CSV"), {}, tr("The rows that are seen"),
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

void MainWindow::buildViewMenu() {
    QMenu* view = menuBar()->addMenu(tr("&View"));
    GraphCanvas* canvas = m_graph->canvas();
    const auto key = [](const char* keys) { return QKeySequence(QString::fromLatin1(keys)); };
    m_needModel << addAction(view, tr("&Fit graph"), key("F"), {}, [canvas] { canvas->fitAll(); });
    m_needModel << addAction(view, tr("Zoom to &selection"), key("Shift+F"), {},
                             [canvas] { canvas->fitSelection(); });
    m_needModel << addAction(view, tr("&Actual size"), key("Ctrl+0"), {}, [canvas] { canvas->actualSize(); });
    QAction* in = addAction(view, tr("Zoom &in"), {}, {}, [canvas] { canvas->zoomStep(1.25); });
    in->setShortcuts({QKeySequence(QKeySequence::ZoomIn), key("Ctrl+=")});
    m_needModel << in << addAction(view, tr("Zoom &out"), QKeySequence::ZoomOut, {}, [canvas] {
        canvas->zoomStep(0.8);
    });
    m_needModel << addAction(view, tr("&Centre the layer"), key("C"), {},
                             [this, canvas] { canvas->centerOn(m_document.current()); });
    view->addSeparator();
    m_folding = new GroupFolding(&m_document, canvas, this);
    m_folding->addTo(view);
    m_needModel << m_folding->actions();
    view->addSeparator();
    QAction* sides = addAction(view, tr("Side b&y side"), key("Ctrl+\\"), tr("The graph as it was with the baseline, or before the last change, beside the graph now"),
                               [this] { m_graph->sideBySide()->setShown(!m_graph->sideBySide()->shown()); });
    sides->setCheckable(true);
    connect(m_graph->sideBySide(), &SideBySide::shownChanged, sides, &QAction::setChecked);
    m_needModel << sides;
    m_bookmarks = new Bookmarks(&m_document, canvas, this);
    m_bookmarks->addTo(view);
    view->addSeparator();
    auto* group = new QActionGroup(this);
    for (int i = 0; i < static_cast<int>(kMetrics.size()); ++i) {
        const Metric metric = kMetrics[static_cast<std::size_t>(i)];
        QAction* action =
            addAction(view, tr("Show ") + metricName(metric),
                      i < static_cast<int>(kMetricsWithKey) ? QKeySequence(Qt::Key_1 + i) : QKeySequence(),
                      metricMeaning(metric), [canvas, metric] { canvas->setMetric(metric); });
        action->setCheckable(true);
        action->setChecked(metric == canvas->metric());
        group->addAction(action);
        connect(canvas, &GraphCanvas::metricChanged, action, [action, metric](Metric shown) {
            if (shown == metric) action->setChecked(true);
        });
        m_needModel << action;
    }
    view->addSeparator();
    m_needModel << addAction(view, tr("&Next worse layer"), key("]"),
                             tr("Walks the layers in the order of the metric, worst first"),
                             [this] { walkWorst(1); });
    m_needModel << addAction(view, tr("&Previous worse layer"), key("["), {}, [this] { walkWorst(-1); });
    buildNavigation(view);
    view->addSeparator();
    const std::pair<const char*, QWidget*> panels[] = {{QT_TR_NOOP("&Tuning panel"), m_tuning},
                                                       {QT_TR_NOOP("&Inspector"), m_inspector},
                                                       {QT_TR_NOOP("&Layers and results"), m_work}};
    for (const auto& [name, panel] : panels) {
        QAction* action = view->addAction(tr(name));
        action->setCheckable(true);
        action->setChecked(true);
        connect(action, &QAction::triggered, panel, &QWidget::setVisible);
        // Restoring the layout shows and hides panels, too.
        connect(view, &QMenu::aboutToShow, action, [action, panel] { action->setChecked(!panel->isHidden()); });
    }
    static constexpr const char* kTabs[] = {
        QT_TR_NOOP("Show la&yers"), QT_TR_NOOP("Show w&here the accuracy went"),
        QT_TR_NOOP("Show the flipped i&mages"), QT_TR_NOOP("Show the lo&g")};
    for (int i = 0; i < WorkTabs::Count; ++i)
        addAction(view, tr(kTabs[i]), QKeySequence(QStringLiteral("Alt+%1").arg(i + 1)), {}, [this, i] {
            m_work->show();
            m_work->showTab(i);
        });
    view->addMenu(m_table->views());
    connect(m_table->views(), &LayerViewMenu::chosen, this, [this] {
        m_work->show();
        m_work->showTab(WorkTabs::Layers);
    });
    view->addSeparator();
    QAction* study = view->addAction(tr("&Measure leave-one-out while idle"));
    study->setCheckable(true);
    connect(study, &QAction::toggled, this, [this](bool on) {
        m_document.setStudies(on);
        QSettings().setValue(QStringLiteral("measureWhileIdle"), on);
    });
    study->setChecked(QSettings().value(QStringLiteral("measureWhileIdle"), true).toBool());
    QAction* reopen = view->addAction(tr("Go on with the last work at the &start"));
    reopen->setToolTip(tr("Otherwise it is offered"));
    reopen->setCheckable(true);
    reopen->setChecked(QSettings().value(QStringLiteral("session/reopen"), false).toBool());
    connect(reopen, &QAction::toggled, this, [](bool on) { QSettings().setValue(QStringLiteral("session/reopen"), on); });
    QAction* notify = view->addAction(tr("Tell on the desktop when something l&ong has ended"));
    notify->setCheckable(true);
    notify->setChecked(QSettings().value(QStringLiteral("notify"), true).toBool());
    connect(notify, &QAction::toggled, this, [](bool on) { QSettings().setValue(QStringLiteral("notify"), on); });
    QAction* history = m_historyDock->toggleViewAction();
    history->setText(tr("&History"));
    history->setShortcut(QKeySequence(QStringLiteral("Ctrl+H")));
    view->addAction(history);
    QAction* amct = m_amctDock->toggleViewAction();
    amct->setText(tr("AMCT wor&kflow"));
    amct->setToolTip(tr("The five steps of AMCT's manual tuning as a checklist"));
    amct->setShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+A")));
    view->addAction(amct);
    addAction(view, tr("&Reset the window's layout"), {}, tr("All panels where and as large as at first"),
              [this] { m_layout->reset(); });
}

void MainWindow::buildLayersMenu() {
    m_layersMenu = menuBar()->addMenu(tr("&Layers"));
    // Space belongs to the graph and the table (in a text field it is a blank); the entry only tells of it.
    m_toggleAction =
        addAction(m_layersMenu, tr("Skip &quantization\tSpace"), {}, {}, [this] { toggleSkip(); });
    m_untilAction = addAction(m_layersMenu, tr("Skip &until\u2026"), QKeySequence(QStringLiteral("U")), {},
                              [this] { skipUntil(); });
    m_downstreamAction =
        addAction(m_layersMenu, tr("Skip all &downstream"), QKeySequence(QStringLiteral("D")),
                  tr("The layer and all that its data flows to"), [this] { skipDownstream(); });
    m_typeAction = addAction(m_layersMenu, tr("Skip all of this &type"), QKeySequence(QStringLiteral("T")),
                             {}, [this] { skipType(); });
    buildGestures();
    m_layersMenu->addSeparator();
    m_tailAction = m_layersMenu->addAction(tr("Skip the tai&l"));
    m_tailAction->setCheckable(true);
    connect(m_tailAction, &QAction::triggered, this,
            [this](bool on) { runEdit([&] { return setTail(m_document.config(), on); }); });
    m_needModel << m_tailAction;
    m_needModel << addAction(m_layersMenu, tr("&Find what to keep in float"), {},
                             tr("The cheapest layers with which the network is within so many points of float"),
                             [this] { m_tuning->findWhatToKeep(); });
    m_layersMenu->addSeparator();
    m_needModel << addAction(m_layersMenu, tr("&Evaluate again"), QKeySequence(Qt::Key_F5), {},
                             [this] { m_document.evaluate(); });
    QAction* pause = m_layersMenu->addAction(tr("P&ause"));
    pause->setShortcut(QKeySequence(QStringLiteral("P")));
    pause->setToolTip(tr("Holds what is measured, that of idle time, too, and lets it go on from there"));
    pause->setCheckable(true);
    connect(pause, &QAction::triggered, m_document.job(), &EvaluationJob::setPaused);
    connect(m_document.job(), &EvaluationJob::pausedChanged, pause, &QAction::setChecked);
    m_needModel << pause;
    m_needModel << addAction(m_layersMenu, tr("&Cancel"), QKeySequence(Qt::Key_Escape),
                             tr("Stops the evaluation"), [this] {
                                 if (m_gestures->cancel()) return;
                                 if (m_document.job()->busy())
                                     m_document.cancel();
                                 else
                                     m_message->dismiss();
                             });
}

void MainWindow::buildHelpMenu() {
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    buildCommands(help);
    addAction(help, tr("&About Quantloupe"), {}, {}, [this] { showAbout(); });
}

void MainWindow::showAbout() {
    QMessageBox::about(this, tr("About Quantloupe"),
                       tr("<b>Quantloupe %1</b><br>A loupe for quantized networks.<br><br>Apache License 2.0")
                           .arg(QApplication::applicationVersion()));
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
    QAction* clear = m_recentMenu->addAction(tr("Clear the list"));
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
    const auto& nodes = m_document.selection();
    bool anyQuantized = false, anySkipped = false;
    for (const NodeId node : nodes) {
        const LayerResult* layer = m_document.layer(node);
        if (layer && !layer->host.empty() && m_document.graph())
            if (const auto host = m_document.graph()->findNode(layer->host)) layer = m_document.layer(*host);
        anyQuantized = anyQuantized || (layer && layer->state == LayerState::Quantized);
        anySkipped = anySkipped || (layer && layer->state == LayerState::Skipped);
    }
    m_toggleAction->setText((anySkipped && !anyQuantized ? tr("&Quantize") : tr("Skip &quantization")) +
                            QStringLiteral("\tSpace"));
    m_toggleAction->setEnabled(model && (anyQuantized || anySkipped || m_document.layers().empty()) &&
                               !nodes.empty());
    m_untilAction->setEnabled(model && (nodes.size() == 1 || nodes.size() == 2));
    m_untilAction->setText(nodes.size() == 2 ? tr("Skip &until here (all between the two)")
                                             : tr("Skip &until\u2026"));
    m_downstreamAction->setEnabled(model && nodes.size() == 1);
    m_typeAction->setEnabled(model && nodes.size() == 1);
    m_typeAction->setText(nodes.size() == 1 && model
                              ? tr("Skip all %1 layers (&type)")
                                    .arg(QString::fromStdString(m_document.graph()->node(nodes[0]).op))
                              : tr("Skip all of this &type"));
    m_tailAction->setChecked(m_document.config().skipTail);
    m_gestures->updateActions();
}

}  // namespace quantloupe::ui
