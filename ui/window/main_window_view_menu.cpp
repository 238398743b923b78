// SPDX-License-Identifier: Apache-2.0
// The View menu: navigation, metrics, panels and settings.
#include <QMenuBar>
#include <QSettings>
#include <algorithm>
#include <tuple>

#include "panels/layer_view_menu.h"
#include "style/theme_choice.h"
#include "window/main_window.h"

namespace quantloupe::ui {

namespace {

QKeySequence key(const char* keys) { return QKeySequence(QString::fromLatin1(keys)); }

}  // namespace

void MainWindow::buildViewMenu() {
    QMenu* view = menuBar()->addMenu(tr("&View"));
    GraphCanvas* canvas = m_graph->canvas();
    m_needModel << addAction(view, tr("&Fit Graph"), key("F"), {}, [this] { fitGraph(); });
    m_placeActions << addAction(view, tr("Zoom to &Selection"), key("Shift+F"), {},
                                [canvas] { canvas->fitSelection(); });
    m_needModel << m_placeActions;
    m_needModel << addAction(view, tr("&Actual Size"), key("Ctrl+0"), {}, [canvas] { canvas->actualSize(); });
    QAction* in = addAction(view, tr("Zoom &In"), {}, {}, [canvas] { canvas->zoomStep(1.25); });
    in->setShortcuts({QKeySequence(QKeySequence::ZoomIn), key("Ctrl+=")});
    m_needModel << in << addAction(view, tr("Zoom &Out"), QKeySequence::ZoomOut, {}, [canvas] {
        canvas->zoomStep(0.8);
    });
    m_needModel << addAction(view, tr("&Center Layer"), key("C"), {},
                             [this, canvas] { canvas->centerOn(m_document.current()); });
    view->addSeparator();
    buildMetricMenu(view->addMenu(tr("&Metric")));
    buildLayoutMenu(view->addMenu(tr("Layo&ut")));
    buildBlocksMenu(view->addMenu(tr("&Blocks")));
    m_bookmarks = new Bookmarks(&m_document, canvas, this);
    m_bookmarks->addTo(view);
    QAction* sides = addAction(
        view, tr("Side b&y Side"), key("Ctrl+\\"),
        tr("Shows the graph of the baseline, or of the previous configuration, next to the current graph"),
        [this] { m_graph->sideBySide()->setShown(!m_graph->sideBySide()->shown()); });
    sides->setCheckable(true);
    connect(m_graph->sideBySide(), &SideBySide::shownChanged, sides, &QAction::setChecked);
    m_needModel << sides;
    view->addSeparator();
    m_needModel << addAction(view, tr("&Next Worse Layer"), key("]"),
                             tr("Steps through the layers in the order of the metric, worst first"),
                             [this] { walkWorst(1); });
    m_needModel << addAction(view, tr("&Previous Worse Layer"), key("["), {}, [this] { walkWorst(-1); });
    buildNavigation(view);
    view->addSeparator();
    buildPanelsMenu(view->addMenu(tr("Pane&ls")));
    view->addMenu(m_table->views());
    connect(m_table->views(), &LayerViewMenu::chosen, this, [this] {
        m_work->show();
        m_work->showTab(WorkTabs::Layers);
    });
    QAction* history = m_historyDock->toggleViewAction();
    history->setText(tr("&History"));
    history->setShortcut(key("Ctrl+H"));
    view->addAction(history);
    m_amctAction = view->addAction(tr("AMCT Wor&kflow"));
    m_amctAction->setToolTip(tr("The five steps of AMCT's manual tuning as a checklist"));
    m_amctAction->setShortcut(key("Ctrl+Shift+A"));
    m_amctAction->setCheckable(true);
    connect(m_amctAction, &QAction::triggered, this,
            [this](bool on) { on ? showImprove(ImprovePanel::Amct) : m_improveDock->hide(); });
    const auto marked = [this] {
        m_amctAction->setChecked(!m_improveDock->isHidden() && m_improve->page() == ImprovePanel::Amct);
    };
    connect(m_improve, &ImprovePanel::pageChanged, this, marked);
    connect(m_improveDock->toggleViewAction(), &QAction::toggled, this, marked);
    view->addSeparator();
    buildThemeMenu(view->addMenu(tr("Them&e")));
    buildSettingsMenu(view->addMenu(tr("Se&ttings")));
}

/// If a long network is only a thin line when all of it is shown, a note explains how to wrap it.
void MainWindow::fitGraph() {
    GraphCanvas* canvas = m_graph->canvas();
    canvas->fitAll();
    const double width = canvas->transform().toView(canvas->index().bounds()).width();
    if (canvas->picture() && width < fontMetrics().height() * 2 &&
        canvas->picture()->arrangement != Arrangement::Columns)
        m_message->show(MessageKind::Note, tr("At this zoom the whole network is only %1 pixels wide. Press "
                                              "W to wrap it into columns.")
                                               .arg(std::max(1, qRound(width))));
}

void MainWindow::buildMetricMenu(QMenu* menu) {
    GraphCanvas* canvas = m_graph->canvas();
    auto* group = new QActionGroup(this);
    for (int i = 0; i < static_cast<int>(kMetrics.size()); ++i) {
        const Metric metric = kMetrics[static_cast<std::size_t>(i)];
        QAction* action = addAction(
            menu, tr("Show ") + metricName(metric),
            i < static_cast<int>(kMetricsWithKey) ? QKeySequence(Qt::Key_0 + (i + 1) % 10) : QKeySequence(),
            metricMeaning(metric), [canvas, metric] { canvas->setMetric(metric); });
        action->setCheckable(true);
        action->setChecked(metric == canvas->metric());
        group->addAction(action);
        connect(canvas, &GraphCanvas::metricChanged, action, [action, metric](Metric shown) {
            if (shown == metric) action->setChecked(true);
        });
        m_needModel << action;
    }
}

void MainWindow::buildLayoutMenu(QMenu* menu) {
    GraphCanvas* canvas = m_graph->canvas();
    const std::tuple<QString, QKeySequence, QString, Arrangement> choices[] = {
        {tr("Wrap into &Columns"), key("W"),
         tr("Lays the network out in several columns so that all of it fits the window"),
         Arrangement::Columns},
        {tr("&Top to Bottom"), {}, tr("Lays the network out in one column"), Arrangement::Down},
        {tr("&Left to Right"), {}, tr("Lays the network out in one row"), Arrangement::Right}};
    for (const auto& [text, keys, tip, arrangement] : choices) {
        const auto current = [canvas, arrangement = arrangement] {
            return canvas->picture() && canvas->picture()->arrangement == arrangement;
        };
        QAction* action = menu->addAction(text);
        action->setCheckable(true);
        action->setShortcut(keys);
        action->setToolTip(tip);
        // Choosing the columns again switches back to one column.
        connect(action, &QAction::triggered, this, [canvas, current, arrangement = arrangement] {
            canvas->arrange(current() && arrangement == Arrangement::Columns ? Arrangement::Down
                                                                             : arrangement);
        });
        connect(menu, &QMenu::aboutToShow, action, [action, current] { action->setChecked(current()); });
        m_needModel << action;
    }
}

void MainWindow::buildBlocksMenu(QMenu* menu) {
    m_folding = new GroupFolding(&m_document, m_graph->canvas(), this);
    m_folding->addTo(menu);
    m_needModel << m_folding->actions();
    menu->addSeparator();
    const auto option = [&](const QString& text, const QKeySequence& keys, const QString& tip,
                            bool LayoutOptions::*value) {
        QAction* action = menu->addAction(text);
        action->setCheckable(true);
        action->setShortcut(keys);
        action->setToolTip(tip);
        action->setChecked(m_document.layoutOptions().*value);
        connect(action, &QAction::triggered, this, [this, value](bool on) {
            LayoutOptions options = m_document.layoutOptions();
            options.*value = on;
            m_graph->canvas()->holdStill(m_document.current());
            m_document.setLayoutOptions(options);
        });
        // Bookmarks also change this.
        connect(menu, &QMenu::aboutToShow, action,
                [this, action, value] { action->setChecked(m_document.layoutOptions().*value); });
        m_needModel << action;
    };
    option(tr("Attach Batch Norms and &Activations"), {},
           tr("Shows folded batch norms and fused activations as compact rows of their layer"),
           &LayoutOptions::compact);
    option(tr("Simplify Shape Arithmetic and Shared Tensors"), {},
           tr("Draws shape arithmetic as one box, and tensors that many layers read (masks, embeddings) as "
              "labels"),
           &LayoutOptions::tidy);
}

void MainWindow::buildPanelsMenu(QMenu* menu) {
    const std::pair<const char*, QWidget*> panels[] = {{QT_TR_NOOP("&Tuning Panel"), m_tuning},
                                                       {QT_TR_NOOP("&Inspector"), m_inspector},
                                                       {QT_TR_NOOP("&Layers and Results"), m_work}};
    addPanelSwitch(menu, tr("Graph Tool&bar"), QStringLiteral("graph/toolbar"), m_graph,
                   &GraphView::setToolbarShown);
    addPanelSwitch(menu, tr("L&egend"), QStringLiteral("graph/legend"), m_graph, &GraphView::setLegendShown);
    for (const auto& [name, panel] : panels) {
        QAction* action = menu->addAction(tr(name));
        action->setCheckable(true);
        action->setChecked(true);
        connect(action, &QAction::triggered, panel, &QWidget::setVisible);
        // Restoring the layout also shows and hides panels.
        connect(menu, &QMenu::aboutToShow, action,
                [action, panel] { action->setChecked(!panel->isHidden()); });
    }
    static constexpr const char* kTabs[] = {
        QT_TR_NOOP("Show La&yers"), QT_TR_NOOP("S&how Accuracy Loss by Step"),
        QT_TR_NOOP("Show Changed I&mages"), QT_TR_NOOP("Show Lo&g"), QT_TR_NOOP("Show &Classes")};
    for (int i = 0; i < WorkTabs::Count; ++i)
        addAction(menu, tr(kTabs[i]), QKeySequence(QStringLiteral("Alt+%1").arg(i + 1)), {}, [this, i] {
            m_work->show();
            m_work->showTab(i);
        });
    menu->addSeparator();
    addAction(menu, tr("&Reset Panel Layout"), {},
              tr("Restores the default position and size of all "
                 "panels"),
              [this] { m_layout->reset(); });
}

void MainWindow::buildThemeMenu(QMenu* menu) {
    auto* group = new QActionGroup(this);
    const std::pair<ThemeChoice, QString> choices[] = {{ThemeChoice::System, tr("&System Theme")},
                                                       {ThemeChoice::Light, tr("&Light Theme")},
                                                       {ThemeChoice::Dark, tr("&Dark Theme")}};
    for (const auto& [choice, text] : choices) {
        QAction* action = addAction(
            menu, text, {}, choice == ThemeChoice::System ? tr("Same theme as the desktop") : QString(),
            [choice = choice] { chooseTheme(choice); });
        action->setCheckable(true);
        group->addAction(action);
        // Another window may have changed this.
        connect(menu, &QMenu::aboutToShow, action,
                [action, choice = choice] { action->setChecked(chosenTheme() == choice); });
    }
}

/// Adds a switch for a part of the graph view, which is visible by default.
void MainWindow::addPanelSwitch(QMenu* menu, const QString& text, const QString& setting, GraphView* view,
                                void (GraphView::*setShown)(bool)) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setChecked(QSettings().value(setting, true).toBool());
    (view->*setShown)(action->isChecked());
    connect(action, &QAction::toggled, this, [view, setShown, setting](bool on) {
        (view->*setShown)(on);
        QSettings().setValue(setting, on);
    });
}

void MainWindow::buildSettingsMenu(QMenu* menu) {
    m_studyAction = menu->addAction(tr("&Evaluate Leave-One-Out When Idle"));
    m_studyAction->setCheckable(true);
    connect(m_studyAction, &QAction::toggled, this, [this](bool on) {
        m_document.setStudies(on);
        QSettings().setValue(QStringLiteral("measureWhileIdle"), on);
    });
    m_studyAction->setChecked(QSettings().value(QStringLiteral("measureWhileIdle"), true).toBool());
    QAction* reopen = menu->addAction(tr("Reopen the Last Session at &Startup"));
    reopen->setToolTip(tr("When this is off, Quantloupe asks at startup"));
    reopen->setCheckable(true);
    reopen->setChecked(QSettings().value(QStringLiteral("session/reopen"), false).toBool());
    connect(reopen, &QAction::toggled, this,
            [](bool on) { QSettings().setValue(QStringLiteral("session/reopen"), on); });
    QAction* notify = menu->addAction(tr("N&otify Me When a Long Evaluation Finishes"));
    notify->setCheckable(true);
    notify->setChecked(QSettings().value(QStringLiteral("notify"), true).toBool());
    connect(notify, &QAction::toggled, this,
            [](bool on) { QSettings().setValue(QStringLiteral("notify"), on); });
}

}  // namespace quantloupe::ui
