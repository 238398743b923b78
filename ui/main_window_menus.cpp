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
    QMenu* file = menuBar()->addMenu(QStringLiteral("&File"));
    addAction(file, QStringLiteral("New &window"), QKeySequence::New, QStringLiteral("For another model, or the same one beside"),
              [this] { openAnother(); });
    addAction(file, QStringLiteral("&Open model\u2026"), QKeySequence::Open, {}, [this] { chooseModel(); });
    addAction(file, QStringLiteral("Open &project\u2026"), QKeySequence(QStringLiteral("Ctrl+Alt+O")), {},
              [this] { chooseProject(); });
    m_needModel << addAction(file, QStringLiteral("Open &data folder\u2026"),
                             QKeySequence(QStringLiteral("Ctrl+D")), {}, [this] { chooseData(); });
    m_needModel << addAction(file, QStringLiteral("Open &calibration folder\u2026"), {}, {},
                             [this] { chooseCalibration(); });
    m_recentMenu = file->addMenu(QStringLiteral("&Recent"));
    updateRecent();
    QAction* demo = addAction(file, QStringLiteral("Open de&mo"), {}, {}, [this] { openDemo(); });
    demo->setEnabled(m_hasDemo);
    file->addSeparator();
    m_needModel << addAction(file, QStringLiteral("&Save project"), QKeySequence::Save,
                             QStringLiteral("Model, data, configuration and all that was measured"),
                             [this] { saveProject(false); });
    m_needModel << addAction(file, QStringLiteral("Save project &as\u2026"),
                             QKeySequence(QStringLiteral("Ctrl+Shift+S")), {}, [this] { saveProject(true); });
    file->addSeparator();
    m_needModel << addAction(file, QStringLiteral("Open con&figuration\u2026"),
                             QKeySequence(QStringLiteral("Ctrl+Shift+O")), {}, [this] { chooseConfig(); });
    m_needModel << addAction(file, QStringLiteral("&Import from another tool\u2026"), QKeySequence(QStringLiteral("Ctrl+I")),
                             QStringLiteral("A configuration of AMCT, Quark, CLIKA ACE, AIMET or ONNX Runtime, or of a model quantized here"),
                             [this] { chooseImport(); });
    m_needModel << addAction(file, QStringLiteral("Save co&nfiguration"), {},
                             QStringLiteral("The configuration alone, as the command line reads it"),
                             [this] { saveConfig(false); });
    m_needModel << addAction(file, QStringLiteral("Save configura&tion as\u2026"), {}, {},
                             [this] { saveConfig(true); });
    file->addSeparator();
    m_needModel << addAction(file, QStringLiteral("Re&load the model"), QKeySequence(QStringLiteral("Ctrl+Shift+R")),
                             QStringLiteral("Reads the file again and carries the tuning over"), [this] { m_document.reload(); });
    file->addSeparator();
    addAction(file, QStringLiteral("C&lose window"), QKeySequence(QStringLiteral("Ctrl+W")), {}, [this] { close(); });
    addAction(file, QStringLiteral("&Quit"), QKeySequence::Quit, {}, [] { QApplication::closeAllWindows(); });
}

void MainWindow::buildExportMenu() {
    m_exportMenu = menuBar()->addMenu(QStringLiteral("E&xport"));
    m_needModel << addAction(m_exportMenu, QStringLiteral("&Will it hold?"), QKeySequence(QStringLiteral("Ctrl+R")),
                             QStringLiteral("Runs the quantized model in ONNX Runtime on the same samples, and puts its accuracy beside the preview's"),
                             [this] { verifyExport(); });
    m_needModel << addAction(m_exportMenu, QStringLiteral("Export &several\u2026"), QKeySequence(QStringLiteral("Ctrl+Shift+E")),
                             QStringLiteral("Several exports into one folder"), [this] { exportSeveral(); });
    m_exportMenu->addSeparator();
    const auto& kinds = exportKinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const QKeySequence keys = i == 0 ? QKeySequence(QStringLiteral("Ctrl+E")) : QKeySequence();
        m_needModel << addAction(m_exportMenu, QString::fromStdString(kinds[i].label), keys,
                                 QString::fromStdString(kinds[i].tip),
                                 [this, i] { chooseExport(static_cast<int>(i)); });
        const ExportKind next = i + 1 < kinds.size() ? kinds[i + 1].kind : kinds[i].kind;
        if (next != kinds[i].kind && (next == ExportKind::QuantizedModel || next == ExportKind::Svg)) m_exportMenu->addSeparator();
    }
    m_needModel << addPictureExports(m_exportMenu, &m_document, m_graph->canvas(), this);
    m_summary->exportButton()->setMenu(m_exportMenu);
}

void MainWindow::buildEditMenu() {
    QMenu* edit = menuBar()->addMenu(QStringLiteral("&Edit"));
    QUndoStack* stack = m_document.undoStack();
    QAction* undo = stack->createUndoAction(this, QStringLiteral("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = stack->createRedoAction(this, QStringLiteral("&Redo"));
    redo->setShortcuts(
        {QKeySequence(QStringLiteral("Ctrl+Shift+Z")), QKeySequence(QStringLiteral("Ctrl+Y"))});
    edit->addAction(undo);
    edit->addAction(redo);
    edit->addSeparator();
    m_needModel << addAction(edit, QStringLiteral("&Find layers"), QKeySequence::Find, {}, [this] {
        m_work->show();
        m_work->showTab(WorkTabs::Layers);
        m_table->filterLine()->setFocus();
        m_table->filterLine()->selectAll();
    });
    m_needModel << addAction(edit, QStringLiteral("Select &all layers"), QKeySequence::SelectAll, {}, [this] {
        std::vector<NodeId> all;
        for (std::size_t i = 0; i < m_document.graph()->nodeCount(); ++i) all.push_back(NodeId(i));
        const NodeId current = all.empty() ? NodeId() : all.front();
        m_document.select(std::move(all), current);
    });
    m_needModel << addAction(
        edit, QStringLiteral("Copy layer &names"), QKeySequence(QStringLiteral("Ctrl+Shift+C")), {}, [this] {
            QStringList names;
            for (const NodeId node : m_document.selection())
                names.append(QString::fromStdString(m_document.graph()->node(node).name));
            QApplication::clipboard()->setText(names.join(QLatin1Char('\n')));
        });
    m_needModel << addAction(edit, QStringLiteral("Copy &table as CSV"), {},
                             QStringLiteral("The rows that are seen"),
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
    QMenu* view = menuBar()->addMenu(QStringLiteral("&View"));
    GraphCanvas* canvas = m_graph->canvas();
    const auto key = [](const char* keys) { return QKeySequence(QString::fromLatin1(keys)); };
    m_needModel << addAction(view, QStringLiteral("&Fit graph"), key("F"), {},
                             [canvas] { canvas->fitAll(); });
    m_needModel << addAction(view, QStringLiteral("Zoom to &selection"), key("Shift+F"), {},
                             [canvas] { canvas->fitSelection(); });
    m_needModel << addAction(view, QStringLiteral("&Actual size"), key("Ctrl+0"), {},
                             [canvas] { canvas->actualSize(); });
    QAction* in = addAction(view, QStringLiteral("Zoom &in"), {}, {}, [canvas] { canvas->zoomStep(1.25); });
    in->setShortcuts({QKeySequence(QKeySequence::ZoomIn), key("Ctrl+=")});
    m_needModel << in << addAction(view, QStringLiteral("Zoom &out"), QKeySequence::ZoomOut, {}, [canvas] {
        canvas->zoomStep(0.8);
    });
    m_needModel << addAction(view, QStringLiteral("&Centre the layer"), key("C"), {},
                             [this, canvas] { canvas->centerOn(m_document.current()); });
    view->addSeparator();
    m_folding = new GroupFolding(&m_document, canvas, this);
    m_folding->addTo(view);
    m_needModel << m_folding->actions();
    view->addSeparator();
    auto* group = new QActionGroup(this);
    for (int i = 0; i < static_cast<int>(kMetrics.size()); ++i) {
        const Metric metric = kMetrics[static_cast<std::size_t>(i)];
        QAction* action =
            addAction(view, QStringLiteral("Show ") + metricName(metric),
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
    m_needModel << addAction(view, QStringLiteral("&Next worse layer"), key("]"),
                             QStringLiteral("Walks the layers in the order of the metric, worst first"),
                             [this] { walkWorst(1); });
    m_needModel << addAction(view, QStringLiteral("&Previous worse layer"), key("["), {},
                             [this] { walkWorst(-1); });
    buildNavigation(view);
    view->addSeparator();
    const std::pair<const char*, QWidget*> panels[] = {
        {"&Tuning panel", m_tuning}, {"&Inspector", m_inspector}, {"&Layers and results", m_work}};
    for (const auto& [name, panel] : panels) {
        QAction* action = view->addAction(QString::fromLatin1(name));
        action->setCheckable(true);
        action->setChecked(true);
        connect(action, &QAction::triggered, panel, &QWidget::setVisible);
        // Restoring the layout shows and hides panels, too.
        connect(view, &QMenu::aboutToShow, action, [action, panel] { action->setChecked(!panel->isHidden()); });
    }
    static constexpr const char* kTabs[] = {"Show la&yers", "Show w&here the accuracy went", "Show the flipped i&mages", "Show the lo&g"};
    for (int i = 0; i < WorkTabs::Count; ++i)
        addAction(view, QString::fromLatin1(kTabs[i]), QKeySequence(QStringLiteral("Alt+%1").arg(i + 1)), {}, [this, i] {
            m_work->show();
            m_work->showTab(i);
        });
    view->addSeparator();
    QAction* study = view->addAction(QStringLiteral("&Measure leave-one-out while idle"));
    study->setCheckable(true);
    connect(study, &QAction::toggled, this, [this](bool on) {
        m_document.setStudies(on);
        QSettings().setValue(QStringLiteral("measureWhileIdle"), on);
    });
    study->setChecked(QSettings().value(QStringLiteral("measureWhileIdle"), true).toBool());
    QAction* notify = view->addAction(QStringLiteral("Tell on the desktop when something l&ong has ended"));
    notify->setCheckable(true);
    notify->setChecked(QSettings().value(QStringLiteral("notify"), true).toBool());
    connect(notify, &QAction::toggled, this, [](bool on) { QSettings().setValue(QStringLiteral("notify"), on); });
    QAction* history = m_historyDock->toggleViewAction();
    history->setText(QStringLiteral("&History"));
    history->setShortcut(QKeySequence(QStringLiteral("Ctrl+H")));
    view->addAction(history);
    addAction(view, QStringLiteral("&Reset the window's layout"), {}, QStringLiteral("All panels where and as large as at first"),
              [this] { m_layout->reset(); });
}

void MainWindow::buildLayersMenu() {
    m_layersMenu = menuBar()->addMenu(QStringLiteral("&Layers"));
    // Space belongs to the graph and the table (in a text field it is a blank); the entry only tells of it.
    m_toggleAction = addAction(m_layersMenu, QStringLiteral("Skip &quantization\tSpace"), {}, {},
                               [this] { toggleSkip(); });
    m_untilAction = addAction(m_layersMenu, QStringLiteral("Skip &until\u2026"),
                              QKeySequence(QStringLiteral("U")), {}, [this] { skipUntil(); });
    m_downstreamAction =
        addAction(m_layersMenu, QStringLiteral("Skip all &downstream"), QKeySequence(QStringLiteral("D")),
                  QStringLiteral("The layer and all that its data flows to"), [this] { skipDownstream(); });
    m_typeAction = addAction(m_layersMenu, QStringLiteral("Skip all of this &type"),
                             QKeySequence(QStringLiteral("T")), {}, [this] { skipType(); });
    buildGestures();
    m_layersMenu->addSeparator();
    m_tailAction = m_layersMenu->addAction(QStringLiteral("Skip the tai&l"));
    m_tailAction->setCheckable(true);
    connect(m_tailAction, &QAction::triggered, this,
            [this](bool on) { runEdit([&] { return setTail(m_document.config(), on); }); });
    m_needModel << m_tailAction;
    m_layersMenu->addSeparator();
    m_needModel << addAction(m_layersMenu, QStringLiteral("&Evaluate again"), QKeySequence(Qt::Key_F5), {},
                             [this] { m_document.evaluate(); });
    m_needModel << addAction(m_layersMenu, QStringLiteral("&Cancel"), QKeySequence(Qt::Key_Escape),
                             QStringLiteral("Stops the evaluation"), [this] {
                                 if (m_gestures->cancel()) return;
                                 if (m_document.job()->busy())
                                     m_document.cancel();
                                 else
                                     m_message->dismiss();
                             });
}

void MainWindow::buildHelpMenu() {
    QMenu* help = menuBar()->addMenu(QStringLiteral("&Help"));
    buildCommands(help);
    addAction(help, QStringLiteral("&About Quantloupe"), {}, {}, [this] { showAbout(); });
}

void MainWindow::showAbout() {
    QMessageBox::about(
        this, QStringLiteral("About Quantloupe"),
        QStringLiteral("<b>Quantloupe %1</b><br>A loupe for quantized networks.<br><br>Apache License 2.0")
            .arg(QApplication::applicationVersion()));
}

void MainWindow::updateRecent() {
    m_recentMenu->clear();
    const QStringList paths = recentModels();
    for (const QString& path : paths) {
        QAction* action = m_recentMenu->addAction(path);
        connect(action, &QAction::triggered, this, [this, path] { open({path.toStdString(), {}, {}, {}}); });
    }
    m_recentMenu->setEnabled(!paths.isEmpty());
    if (paths.isEmpty()) return;
    m_recentMenu->addSeparator();
    connect(m_recentMenu->addAction(QStringLiteral("Clear the list")), &QAction::triggered, this, [this] {
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
    m_toggleAction->setText(
        (anySkipped && !anyQuantized ? QStringLiteral("&Quantize") : QStringLiteral("Skip &quantization")) +
        QStringLiteral("\tSpace"));
    m_toggleAction->setEnabled(model && (anyQuantized || anySkipped || m_document.layers().empty()) &&
                               !nodes.empty());
    m_untilAction->setEnabled(model && (nodes.size() == 1 || nodes.size() == 2));
    m_untilAction->setText(nodes.size() == 2 ? QStringLiteral("Skip &until here (all between the two)")
                                             : QStringLiteral("Skip &until\u2026"));
    m_downstreamAction->setEnabled(model && nodes.size() == 1);
    m_typeAction->setEnabled(model && nodes.size() == 1);
    m_typeAction->setText(nodes.size() == 1 && model
                              ? QStringLiteral("Skip all %1 layers (&type)")
                                    .arg(QString::fromStdString(m_document.graph()->node(nodes[0]).op))
                              : QStringLiteral("Skip all of this &type"));
    m_tailAction->setChecked(m_document.config().skipTail);
    m_gestures->updateActions();
}

}  // namespace quantloupe::ui
