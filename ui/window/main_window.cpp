// SPDX-License-Identifier: Apache-2.0
// The window's parts and their connections. main_window_menus.cpp contains the menus, main_window_files.cpp
// opening, saving and exporting.
#include "window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QScreen>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "document/demo.h"
#include "document/recent_files.h"
#include "style/theme.h"
#include "window/tour.h"

/// Resources of a static library are not linked automatically. (The macro must not be in a namespace.)
static void initResources() { Q_INIT_RESOURCE(ui); }

namespace quantloupe::ui {

MainWindow::MainWindow(const std::filesystem::path& resources, QWidget* parent)
    : QMainWindow(parent), m_resources(resources) {
    initResources();
    m_hasDemo = findDemo(resources).has_value();
    setAcceptDrops(true);
    buildPanels();
    buildMenus();
    observe();
    applyTheme();
    updateActions();
    updateTitle();
    const int unit = fontMetrics().height();
    const QSize wish(unit * 92, unit * 57);
    // The screen size of the offscreen platform does not limit the size of a screenshot.
    const bool real = QGuiApplication::platformName() != QLatin1String("offscreen");
    resize(real && screen() ? wish.boundedTo(screen()->availableSize()) : wish);
    setMinimumSize(unit * 50, unit * 28);
    m_layout = std::make_unique<WindowLayout>(this, std::vector{m_columns, m_middle});
}

MainWindow::~MainWindow() = default;

void MainWindow::buildPanels() {
    const int unit = fontMetrics().height();
    auto* central = new QWidget;
    auto* column = new QVBoxLayout(central);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_summary = new SummaryBar(&m_document);
    m_message = new MessageBar;
    const auto demo = findDemo(m_resources);
    m_start = new StartPage(m_hasDemo, demo ? demo->data : std::filesystem::path());
    m_status = new StatusLine(&m_document);

    m_tuning = new TuningPanel(&m_document);
    m_graph = new GraphView(&m_document);
    m_table = new LayerTable(&m_document);
    m_work = new WorkTabs(&m_document, m_table);
    m_inspector = new Inspector(&m_document);
    m_tuning->setAccessibleName(tr("Tuning"));
    m_inspector->setAccessibleName(tr("Selected layers"));
    m_middle = new QSplitter(Qt::Vertical);
    m_middle->addWidget(m_graph);
    m_middle->addWidget(m_work);
    m_middle->setStretchFactor(0, 3);
    m_middle->setStretchFactor(1, 1);
    m_columns = new QSplitter(Qt::Horizontal);
    m_columns->addWidget(m_tuning);
    m_columns->addWidget(m_middle);
    m_columns->addWidget(m_inspector);
    m_columns->setStretchFactor(0, 0);
    m_columns->setStretchFactor(1, 1);
    m_columns->setStretchFactor(2, 0);
    for (QSplitter* splitter : {m_columns, m_middle}) {
        splitter->setHandleWidth(1);
        splitter->setChildrenCollapsible(false);
    }
    m_work->setMinimumHeight(unit * 7);
    m_columns->setSizes({unit * 19, unit * 54, unit * 19});
    m_middle->setSizes({unit * 34, unit * 14});

    m_pages = new QStackedWidget;
    m_pages->addWidget(m_start);
    m_pages->addWidget(m_columns);
    column->addWidget(m_summary);
    column->addWidget(m_message);
    column->addWidget(m_pages, 1);
    column->addWidget(m_status);
    m_summary->hide();  // until there are results
    setCentralWidget(central);
    m_history = new HistoryPanel(&m_document);
    m_historyDock = buildDock(tr("History"), QStringLiteral("historyDock"), m_history);
    m_improve = new ImprovePanel(&m_document);
    m_improveDock = buildDock(tr("Improve Accuracy"), QStringLiteral("improveDock"), m_improve);
    m_document.setViewCollector([this] { return collectView(); });
    m_document.setLayoutOptions(GraphCanvas::layoutOptionsFor(m_graph->canvas()->font()));
}

/// Adds a hidden dock at the right.
QDockWidget* MainWindow::buildDock(const QString& title, const QString& name, QWidget* content) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(content);
    dock->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
    dock->setAllowedAreas(Qt::LeftDockWidgetArea | Qt::RightDockWidgetArea);
    addDockWidget(Qt::RightDockWidgetArea, dock);
    dock->hide();
    connect(dock, &QDockWidget::visibilityChanged, this, &MainWindow::makeRoom);
    connect(dock, &QDockWidget::dockLocationChanged, this, &MainWindow::makeRoom);
    return dock;
}

/// In a narrow window, a dock takes the place of the inspector, so that the graph keeps its room.
void MainWindow::makeRoom() {
    if (!m_historyDock || !m_improveDock) return;  // they are being built
    constexpr int kRoomForBoth = 108;
    const bool docked = !m_historyDock->isHidden() || !m_improveDock->isHidden();
    const bool takesPlace = docked && width() < fontMetrics().height() * kRoomForBoth;
    if (takesPlace == m_inspectorShown.has_value()) return;
    if (takesPlace) m_inspectorShown = !m_inspector->isHidden();
    const bool shown = !takesPlace && *m_inspectorShown;
    if (!takesPlace) m_inspectorShown.reset();
    m_inspector->setVisible(shown);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    makeRoom();
}

/// Tabbed with an existing dock, because both need the height.
void MainWindow::showDock(QDockWidget* dock) {
    QDockWidget* other = dock == m_improveDock ? m_historyDock : m_improveDock;
    if (other->isVisible() && dockWidgetArea(other) == dockWidgetArea(dock) &&
        !tabifiedDockWidgets(other).contains(dock))
        tabifyDockWidget(other, dock);
    dock->show();
    dock->raise();
}

void MainWindow::showImprove(ImprovePanel::Page page) {
    m_improve->setPage(page);
    showDock(m_improveDock);
}

void MainWindow::observe() {
    GraphCanvas* canvas = m_graph->canvas();
    connect(&m_document, &Document::message, m_message, &MessageBar::show);
    connect(&m_document, &Document::modelChanged, this, [this] {
        m_message->dismiss();
        m_start->setBusy({});
        m_pages->setCurrentWidget(m_columns);
        m_summary->show();
        m_graph->canvas()->setFocus();
        if (m_document.projectPath().empty())
            rememberModel(QString::fromStdString(m_document.model()->path.string()));
        updateRecent();
        updateTitle();
        updateActions();
        if (m_recovering && m_recovery && m_autosave)
            m_autosave->adopt(*std::exchange(m_recovery, std::nullopt));
        m_recovering = false;
        if (!m_document.model()->notices.empty()) {
            QStringList lines;
            for (const std::string& notice : m_document.model()->notices)
                lines.append(QString::fromStdString(notice));
            m_message->show(MessageKind::Note, lines.join(QLatin1Char('\n')));
        }
        offerRecovery();
    });
    connect(&m_document, &Document::modelChanged, this, [this] {
        if (m_tour) m_tour->stop();
        const auto demo = findDemo(m_resources);
        if (std::exchange(m_tourWaits, false) && demo && m_document.model()->path == demo->model) runTour();
    });
    connect(&m_document, &Document::modelChanged, this, &MainWindow::watchFile);
    connect(&m_watch, &FileWatch::changed, this, &MainWindow::offerReload);
    connect(&m_document, &Document::evaluationFinished, this, &MainWindow::tellWhenAway);
    connect(&m_document, &Document::failed, this, [this](const Failure& failure) {
        m_start->setBusy({});
        if (failure.during == Failure::During::Loading) m_recovering = m_tourWaits = false;
        if (failure.during == Failure::During::Data) m_dataFailure = sentence(failure.text);
    });
    // the previous error of the data no longer applies
    connect(&m_document, &Document::dataChanged, this, [this] {
        if (m_document.data() && !m_dataFailure.isEmpty() && m_message->text() == m_dataFailure)
            m_message->dismiss();
        m_dataFailure.clear();
    });
    connect(&m_document, &Document::viewLoaded, this, &MainWindow::restoreView);
    connect(&m_document, &Document::projectChanged, this, [this] {
        if (!m_document.projectPath().empty())
            rememberModel(QString::fromStdString(m_document.projectPath().string()));
        updateRecent();
        updateTitle();
    });
    connect(&m_document, &Document::selectionChanged, this, &MainWindow::updateActions);
    connect(&m_document, &Document::layersChanged, this, &MainWindow::updateActions);
    connect(&m_document, &Document::configChanged, this, &MainWindow::updateActions);
    connect(m_document.undoStack(), &QUndoStack::cleanChanged, this, &MainWindow::updateTitle);

    connect(canvas, &GraphCanvas::toggleRequested, this, &MainWindow::toggleSkip);
    connect(m_table, &LayerTable::toggleRequested, this, &MainWindow::toggleSkip);
    connect(m_inspector, &Inspector::toggleRequested, this, &MainWindow::toggleSkip);
    connect(m_table, &LayerTable::activated, canvas, &GraphCanvas::centerOn);
    connect(m_table, &LayerTable::filtered, canvas, &GraphCanvas::setDimmed);
    connect(m_inspector, &Inspector::layerChosen, this, [this](NodeId layer) {
        m_document.select(layer);
        m_graph->canvas()->ensureVisible(layer);
    });
    connect(m_work, &WorkTabs::layerChosen, m_inspector, &Inspector::layerChosen);
    connect(m_inspector, &Inspector::layersChosen, this,
            [this](const std::vector<NodeId>& layers) { m_document.select(layers, m_document.current()); });
    // Scrolls the graph to a row selected in the table.
    connect(&m_document, &Document::selectionChanged, this, [this] {
        if (m_table->view()->hasFocus()) m_graph->canvas()->ensureVisible(m_document.current());
    });
    const auto menu = [this](QPoint at) {
        if (m_document.hasModel()) m_contextMenu->popup(at);
    };
    connect(canvas, &GraphCanvas::menuRequested, this, menu);
    connect(m_table, &LayerTable::menuRequested, this, menu);
    connect(canvas, &GraphCanvas::untilChosen, this, [this](NodeId from, const std::vector<NodeId>& ends) {
        runEdit([this, from, ends] {
            return quantloupe::ui::skipUntil(*m_document.graph(), m_document.config(), from, ends);
        });
    });

    connect(m_tuning, &TuningPanel::chooseDataRequested, this, &MainWindow::chooseData);
    connect(m_tuning, &TuningPanel::chooseCalibrationRequested, this, &MainWindow::chooseCalibration);
    connect(m_tuning, &TuningPanel::preprocessRequested, this, &MainWindow::showPreprocess);
    connect(m_tuning, &TuningPanel::labelsRequested, this, &MainWindow::showLabels);
    connect(m_tuning, &TuningPanel::workflowRequested, this, [this] { showImprove(ImprovePanel::Amct); });
    for (QDockWidget* dock : {m_historyDock, m_improveDock})
        connect(dock->toggleViewAction(), &QAction::triggered, this, [this, dock](bool on) {
            if (on) showDock(dock);
        });
    connect(amctPanel(), &AmctPanel::tuningRequested, this, [this](TuningPlace place) {
        m_tuning->show();
        m_tuning->reveal(place);
    });
    connect(amctPanel(), &AmctPanel::layersChosen, this, [this](const std::vector<NodeId>& layers) {
        m_document.select(layers, layers.front());
        m_work->show();
        m_work->showTab(WorkTabs::Layers);
        m_graph->canvas()->fitSelection();
    });
    connect(m_improve->finder(), &TuneFinder::pointed, this, &MainWindow::previewPoint);
    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseModel);
    connect(m_start, &StartPage::demoRequested, this, [this] { openDemo(); });
    connect(m_start, &StartPage::tourRequested, this, &MainWindow::startTour);
    connect(m_start, &StartPage::recentChosen, this, [this](const QString& path) {
        open({path.toStdString(), {}, {}, {}});
    });
}

void MainWindow::open(const OpenRequest& request) {
    m_recovering = request.recoveredFor.has_value();
    m_start->setBusy(tr("Opening %1\u2026").arg(QString::fromStdString(request.model.filename().string())));
    m_document.open(request);
}

bool MainWindow::openDemo(const OpenRequest& instead) {
    auto demo = findDemo(m_resources);
    if (!demo) {
        m_message->show(MessageKind::Error,
                        tr("The demo files are not installed: there is no folder ../share/quantloupe/demo "
                           "relative to the program."));
        return false;
    }
    if (!instead.data.empty()) {
        demo->data = instead.data;
        demo->calibration.clear();
    }
    if (!instead.calibration.empty()) demo->calibration = instead.calibration;
    if (!instead.config.empty()) {
        demo->config = instead.config;
        demo->ownConfig = true;
    }
    demo->configure = instead.configure;
    demo->preprocess = instead.preprocess;
    demo->task = instead.task;
    open(*demo);
    return true;
}

void MainWindow::makeReproducible() {
    m_status->setReproducible();
    m_message->keepNotes();
    m_document.setStudies(false);
    const QSignalBlocker keepsSetting(m_studyAction);
    m_studyAction->setChecked(false);
}

void MainWindow::selectMostSensitive() {
    const auto& layers = m_document.layers();
    NodeId worst;
    double most = -1;
    for (const LayerResult& layer : layers) {
        if (!layer.quantizable || !layer.local || !std::isfinite(layer.local->qs) || layer.local->qs <= most)
            continue;
        most = layer.local->qs;
        worst = layer.node;
    }
    if (!worst.valid()) return;
    m_document.select(worst);
    m_graph->canvas()->ensureVisible(worst);
    if (most >= 0) m_table->view()->sortByColumn(LayerTableModel::LocalQs, Qt::DescendingOrder);
    m_table->view()->scrollToTop();
}

void MainWindow::runEdit(const std::function<ConfigEdit()>& make) {
    if (!m_document.hasModel()) return;
    try {
        m_document.edit(make());
    } catch (const std::exception& error) {
        m_document.say(MessageKind::Error, QString::fromUtf8(error.what()));
    }
}

void MainWindow::toggleSkip() { m_document.toggleSelection(); }

void MainWindow::skipUntil() {
    const auto nodes = m_document.selection();
    if (nodes.size() == 2) {
        runEdit([&] {
            return quantloupe::ui::skipUntil(*m_document.graph(), m_document.config(), nodes[0], nodes[1]);
        });
    } else if (nodes.size() == 1) {
        m_gestures->startUntil(nodes[0]);
    }
}

void MainWindow::skipDownstream() {
    if (!m_document.current().valid()) return;
    m_gestures->propose(m_downstreamAction, [this] {
        runEdit([&] {
            return quantloupe::ui::skipDownstream(*m_document.graph(), m_document.config(),
                                                  m_document.current());
        });
    });
}

void MainWindow::skipType() {
    if (!m_document.current().valid()) return;
    m_gestures->propose(m_typeAction, [this] {
        runEdit([&] {
            return quantloupe::ui::skipType(m_document.config(),
                                            m_document.graph()->node(m_document.current()).op);
        });
    });
}

/// Goes to the next layer in the order of the metric, worst first.
void MainWindow::walkWorst(int step) {
    const Metric shown = m_graph->canvas()->metric();
    const Metric metric = shown == Metric::None ? Metric::LocalQs : shown;
    const Overlay overlay =
        overlayOf(m_document, m_document.layers(), metric, m_graph->canvas()->scaleChoice());
    std::vector<std::pair<double, NodeId>> order;
    for (const LayerResult& layer : m_document.layers())
        if (const auto value = overlay.valueOf(layer.node))
            order.emplace_back(-overlay.scale.axisPosition(*value), layer.node);
    if (order.empty()) return;
    std::ranges::sort(order);
    auto here = std::ranges::find(order, m_document.current(), &std::pair<double, NodeId>::second);
    std::ptrdiff_t place = here == order.end() ? (step > 0 ? -1 : 0) : here - order.begin();
    place = std::clamp<std::ptrdiff_t>(place + step, 0, static_cast<std::ptrdiff_t>(order.size()) - 1);
    m_document.select(order[static_cast<std::size_t>(place)].second);
    m_graph->canvas()->ensureVisible(m_document.current());
}

void MainWindow::updateTitle() {
    setWindowTitle(m_document.hasModel() ? m_document.title() + QStringLiteral("[*] \u2014 Quantloupe")
                                         : tr("Quantloupe"));
    setWindowModified(!m_document.undoStack()->isClean());
}

void MainWindow::applyTheme() {
    // Uses the palette of the application, because the style sheet has changed the palette of the window.
    const Theme& colors = themeOf(QApplication::palette());
    if (m_themed && m_themeDark == colors.dark) return;
    m_themed = true;
    m_themeDark = colors.dark;
    setStyleSheet(styleSheetOf(colors, font()));
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    const bool palette =
        event->type() == QEvent::PaletteChange || event->type() == QEvent::ApplicationPaletteChange;
    if (palette && m_pages) applyTheme();
    if (event->type() == QEvent::FontChange && m_pages) {
        m_themed = false;
        applyTheme();
    }
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!mayDiscard()) {
        event->ignore();
        return;
    }
    if (m_keepsLayout) {
        if (m_inspectorShown) m_inspector->setVisible(*m_inspectorShown);  // as it is without docks
        m_layout->save();
        rememberSession();
    }
    event->accept();
}

}  // namespace quantloupe::ui
