// SPDX-License-Identifier: Apache-2.0
// The panels and the events of the window. main_window_commands.cpp builds the commands and connects them.
#include "window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QMimeData>
#include <QScreen>
#include <QUrl>
#include <QVBoxLayout>

#include "document/demo.h"
#include "style/theme.h"
#include "window/file_commands.h"
#include "window/last_session.h"
#include "window/menu_actions.h"
#include "window/recovery.h"
#include "window/settings_commands.h"
#include "window/view_commands.h"

/// Resources of a static library are not linked automatically. (The macro must not be in a namespace.)
static void initResources() { Q_INIT_RESOURCE(ui); }

namespace quantloupe::ui {

MainWindow::MainWindow(const std::filesystem::path& resources, QWidget* parent)
    : QMainWindow(parent), m_resources(resources) {
    initResources();
    setAcceptDrops(true);
    buildPanels();
    arrangePanels();
    // First: the commands may show messages when a model has been opened.
    connect(&m_document, &Document::modelChanged, this, &MainWindow::showModel);
    buildCommands();
    connectPanels();
    applyTheme();
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
    const auto demo = findDemo(m_resources);
    m_panels.summary = new SummaryBar(&m_document);
    m_panels.message = new MessageBar;
    m_panels.start = new StartPage(demo.has_value(), demo ? demo->data : std::filesystem::path());
    m_panels.status = new StatusLine(&m_document);
    m_panels.tuning = new TuningPanel(&m_document);
    m_panels.graph = new GraphView(&m_document);
    m_panels.table = new LayerTable(&m_document);
    m_panels.work = new WorkTabs(&m_document, m_panels.table, m_panels.graph->canvas());
    m_panels.inspector = new Inspector(&m_document);
    m_panels.history = new HistoryPanel(&m_document);
    m_panels.improve = new ImprovePanel(&m_document);
    m_panels.tuning->setAccessibleName(tr("Tuning"));
    m_panels.inspector->setAccessibleName(tr("Selected layers"));
}

void MainWindow::arrangePanels() {
    const int unit = fontMetrics().height();
    m_middle = new QSplitter(Qt::Vertical);
    m_middle->addWidget(m_panels.graph);
    m_middle->addWidget(m_panels.work);
    m_middle->setStretchFactor(0, 3);
    m_middle->setStretchFactor(1, 1);
    m_columns = new QSplitter(Qt::Horizontal);
    m_columns->addWidget(m_panels.tuning);
    m_columns->addWidget(m_middle);
    m_columns->addWidget(m_panels.inspector);
    m_columns->setStretchFactor(0, 0);
    m_columns->setStretchFactor(1, 1);
    m_columns->setStretchFactor(2, 0);
    for (QSplitter* splitter : {m_columns, m_middle}) {
        splitter->setHandleWidth(1);
        splitter->setChildrenCollapsible(false);
    }
    m_panels.work->setMinimumHeight(unit * 7);
    m_columns->setSizes({unit * 19, unit * 54, unit * 19});
    m_middle->setSizes({unit * 34, unit * 14});

    m_pages = new QStackedWidget;
    m_pages->addWidget(m_panels.start);
    m_pages->addWidget(m_columns);
    auto* central = new QWidget;
    auto* column = new QVBoxLayout(central);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_panels.summary);
    column->addWidget(m_panels.message);
    column->addWidget(m_pages, 1);
    column->addWidget(m_panels.status);
    m_panels.summary->hide();  // until there are results
    setCentralWidget(central);
    m_panels.historyDock = buildDock(tr("History"), QStringLiteral("historyDock"), m_panels.history);
    m_panels.improveDock = buildDock(tr("Improve Accuracy"), QStringLiteral("improveDock"), m_panels.improve);
    for (QDockWidget* dock : {m_panels.historyDock, m_panels.improveDock}) {
        // Queued, because docks must not be moved while a layout is being restored.
        connect(dock, &QDockWidget::visibilityChanged, this, &MainWindow::makeRoom, Qt::QueuedConnection);
        connect(dock, &QDockWidget::dockLocationChanged, this, &MainWindow::makeRoom, Qt::QueuedConnection);
    }
    m_inspectorDock = buildDock(tr("Inspector"), QStringLiteral("inspectorDock"), nullptr);
    m_inspectorDock->setFeatures(QDockWidget::NoDockWidgetFeatures);
    auto* noTitle = new QWidget;                                 // its tab has the title
    (new QHBoxLayout(noTitle))->setContentsMargins(0, 0, 0, 0);  // without a layout, its size is invalid
    m_inspectorDock->setTitleBarWidget(noTitle);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    m_document.setLayoutOptions(GraphCanvas::layoutOptionsFor(m_panels.graph->canvas()->font()));
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
    return dock;
}

/// In a narrow window, the inspector becomes a tab next to the other docks, so that the graph keeps its room.
void MainWindow::makeRoom() {
    if (!m_inspectorDock) return;  // the panels are being built
    constexpr int kRoomForBoth = 108;
    const bool docked = !m_panels.historyDock->isHidden() || !m_panels.improveDock->isHidden();
    dockInspector(docked && width() < fontMetrics().height() * kRoomForBoth);
}

void MainWindow::dockInspector(bool docked) {
    Inspector* inspector = m_panels.inspector;
    if (docked == (m_inspectorDock->widget() == inspector)) return;
    const bool shown = !inspector->isHidden();
    if (!docked) {
        m_columns->addWidget(inspector);  // takes it out of the dock
        m_columns->setSizes(m_columnSizes);
        m_inspectorDock->hide();
        inspector->setVisible(shown);
        return;
    }
    m_columnSizes = m_columns->sizes();
    m_inspectorDock->setWidget(inspector);
    inspector->setVisible(shown);
    m_inspectorDock->setVisible(shown);
    QDockWidget* front = m_panels.improveDock->isHidden() ? m_panels.historyDock : m_panels.improveDock;
    if (dockWidgetArea(front) != Qt::RightDockWidgetArea) return;
    tabifyDockWidget(front, m_inspectorDock);
    front->raise();
}

/// Brings the tab of the inspector to the front when a layer is selected, except while the user works in
/// Improve Accuracy.
void MainWindow::raiseInspector() {
    const bool improving =
        m_panels.improveDock->isVisible() && !m_panels.improveDock->visibleRegion().isEmpty();
    if (improving || m_inspectorDock->isHidden() || !m_document.current().valid()) return;
    m_inspectorDock->raise();
}

/// Saves the layout with the inspector in its column, and leaves the window as it is.
void MainWindow::saveLayout() {
    const QList<int> sizes = m_columns->sizes();
    const bool docked = m_inspectorDock->widget() == m_panels.inspector;
    const bool front = docked && !m_panels.inspector->visibleRegion().isEmpty();
    dockInspector(false);
    m_layout->save();
    const QList<int> saved = m_columns->sizes();
    makeRoom();
    if (!docked) return;
    m_columns->setSizes(sizes);
    m_columnSizes = saved;
    if (front) m_inspectorDock->raise();
}

void MainWindow::resetLayout() {
    dockInspector(false);
    m_layout->reset();
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    makeRoom();
}

/// Tabbed with an existing dock, because both need the height.
void MainWindow::showDock(QDockWidget* dock) {
    QDockWidget* other = dock == m_panels.improveDock ? m_panels.historyDock : m_panels.improveDock;
    if (other->isVisible() && dockWidgetArea(other) == dockWidgetArea(dock) &&
        !tabifiedDockWidgets(other).contains(dock))
        tabifyDockWidget(other, dock);
    dock->show();
    dock->raise();
}

void MainWindow::showImprove(ImprovePanel::Page page) {
    m_panels.improve->setPage(page);
    showDock(m_panels.improveDock);
}

QList<QAction*> MainWindow::allActions() const { return commandsIn(menuBar()); }

/// Shows the panels for the model that has been opened.
void MainWindow::showModel() {
    m_panels.message->dismiss();
    m_pages->setCurrentWidget(m_columns);
    m_panels.summary->show();
    m_panels.graph->canvas()->setFocus();
    updateTitle();
    if (m_document.model()->notices.empty()) return;
    QStringList lines;
    for (const std::string& notice : m_document.model()->notices)
        lines.append(QString::fromStdString(notice));
    m_panels.message->show(MessageKind::Note, lines.join(QLatin1Char('\n')));
}

void MainWindow::open(const OpenRequest& request) { m_files->open(request); }

bool MainWindow::openDemo(const OpenRequest& instead) { return m_files->openDemo(instead); }

void MainWindow::openDropped(const QString& path) { m_files->openDropped(path); }

void MainWindow::setAskBeforeClosing(bool ask) { m_files->setAskBeforeClosing(ask); }

void MainWindow::selectMostSensitive() { m_view->selectMostSensitive(); }

void MainWindow::enableRecovery(const std::filesystem::path& folder) { m_recovery->enable(folder); }

void MainWindow::makeReproducible() {
    m_panels.status->setReproducible();
    m_panels.message->keepNotes();
    m_settings->disableBackgroundEvaluation();
}

void MainWindow::keepLayout() {
    m_keepsLayout = true;
    m_layout->restore();
}

void MainWindow::reopenLast() {
    if (!m_recovery->offers()) m_session->reopen();
}

MainWindow* MainWindow::openAnother() {
    auto* window = new MainWindow(m_resources);
    window->setAttribute(Qt::WA_DeleteOnClose);
    if (m_keepsLayout) {
        saveLayout();
        window->keepLayout();
    }
    if (const auto folder = m_recovery->folder(); !folder.empty()) window->enableRecovery(folder);
    const int step = fontMetrics().height() * 2;
    window->move(pos() + QPoint(step, step));
    window->show();
    return window;
}

void MainWindow::updateTitle() {
    setWindowTitle(m_document.hasModel() ? m_document.title() + QStringLiteral("[*] \u2014 Quantloupe")
                                         : tr("Quantloupe"));
    setWindowModified(!m_document.undoStack()->isClean());
}

void MainWindow::applyTheme() {
    // Uses the palette of the application, because the style sheet has changed the palette of the window.
    const QPalette palette = QApplication::palette();
    const Theme& colors = themeOf(palette);
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
    if (!m_files->mayDiscard()) {
        event->ignore();
        return;
    }
    if (m_keepsLayout) {
        saveLayout();
        m_session->remember();
    }
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const auto urls = event->mimeData()->urls();
    if (!urls.isEmpty() && urls.front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const auto urls = event->mimeData()->urls();
    if (urls.isEmpty()) return;
    event->acceptProposedAction();
    openDropped(urls.front().toLocalFile());
}

}  // namespace quantloupe::ui
