// SPDX-License-Identifier: Apache-2.0
#include "window/view_commands.h"

#include <QActionGroup>
#include <algorithm>
#include <cmath>
#include <tuple>

namespace quantloupe::ui {

ViewCommands::ViewCommands(Document* document, GraphView* graph, LayerTable* table, MessageBar* message,
                           ModelActions* modelActions, QMainWindow* window)
    : QObject(window),
      m_document(document),
      m_graph(graph),
      m_canvas(graph->canvas()),
      m_table(table),
      m_message(message),
      m_modelActions(modelActions),
      m_menu(window->menuBar()->addMenu(tr("&View"))) {
    addZoom();
    m_menu->addSeparator();
    addMetrics(m_menu->addMenu(tr("&Metric")));
    addLayouts(m_menu->addMenu(tr("Layo&ut")));
    addBlocks(m_menu->addMenu(tr("&Blocks")));
    m_bookmarks = new Bookmarks(document, m_canvas, this);
    m_bookmarks->addTo(m_menu);
    addSideBySide();
    m_menu->addSeparator();
    addNavigation();
}

/// Adds a command that needs a model.
QAction* ViewCommands::add(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                           std::function<void()> run) {
    return m_modelActions->add(addCommand(menu, text, keys, tip, std::move(run)));
}

void ViewCommands::addZoom() {
    add(m_menu, tr("&Fit Graph"), keySequence("F"), {}, [this] { fitGraph(); });
    m_placeActions << add(m_menu, tr("Zoom to &Selection"), keySequence("Shift+F"), {},
                          [this] { m_canvas->view()->fitSelection(); });
    add(m_menu, tr("&Actual Size"), keySequence("Ctrl+0"), {}, [this] { m_canvas->view()->actualSize(); });
    add(m_menu, tr("Zoom &In"), {}, {}, [this] {
        m_canvas->view()->zoomStep(1.25);
    })->setShortcuts({QKeySequence(QKeySequence::ZoomIn), keySequence("Ctrl+=")});
    add(m_menu, tr("Zoom &Out"), QKeySequence::ZoomOut, {}, [this] { m_canvas->view()->zoomStep(0.8); });
    add(m_menu, tr("&Center Layer"), keySequence("C"), {},
        [this] { m_canvas->view()->centerOn(m_document->current()); });
}

/// If a long network is only a thin line when all of it is shown, a note explains how to wrap it.
void ViewCommands::fitGraph() {
    m_canvas->view()->fitAll();
    const double width = m_canvas->transform().toView(m_canvas->index().bounds()).width();
    if (m_canvas->picture() && width < m_graph->fontMetrics().height() * 2 &&
        m_canvas->picture()->arrangement != Arrangement::Columns)
        m_message->show(MessageKind::Note, tr("At this zoom the whole network is only %1 pixels wide. Press "
                                              "W to wrap it into columns.")
                                               .arg(std::max(1, qRound(width))));
}

void ViewCommands::addMetrics(QMenu* menu) {
    auto* group = new QActionGroup(this);
    for (int i = 0; i < static_cast<int>(kMetrics.size()); ++i) {
        const Metric metric = kMetrics[static_cast<std::size_t>(i)];
        QAction* action = add(
            menu, tr("Show ") + metricName(metric),
            i < static_cast<int>(kMetricsWithKey) ? QKeySequence(Qt::Key_0 + (i + 1) % 10) : QKeySequence(),
            metricMeaning(metric), [this, metric] { m_canvas->setMetric(metric); });
        action->setCheckable(true);
        action->setChecked(metric == m_canvas->metric());
        group->addAction(action);
        connect(m_canvas, &GraphCanvas::metricChanged, action, [action, metric](Metric shown) {
            if (shown == metric) action->setChecked(true);
        });
    }
}

void ViewCommands::addLayouts(QMenu* menu) {
    GraphCanvas* canvas = m_canvas;
    const std::tuple<QString, QKeySequence, QString, Arrangement> choices[] = {
        {tr("Wrap into &Columns"), keySequence("W"),
         tr("Lays the network out in several columns so that all of it fits the window"),
         Arrangement::Columns},
        {tr("&Top to Bottom"), {}, tr("Lays the network out in one column"), Arrangement::Down},
        {tr("&Left to Right"), {}, tr("Lays the network out in one row"), Arrangement::Right}};
    for (const auto& [text, keys, tip, arrangement] : choices) {
        const auto current = [canvas, arrangement = arrangement] {
            return canvas->picture() && canvas->picture()->arrangement == arrangement;
        };
        QAction* action = m_modelActions->add(menu->addAction(text));
        action->setCheckable(true);
        action->setShortcut(keys);
        action->setToolTip(tip);
        // Choosing the columns again switches back to one column.
        connect(action, &QAction::triggered, this, [canvas, current, arrangement = arrangement] {
            canvas->view()->arrange(current() && arrangement == Arrangement::Columns ? Arrangement::Down
                                                                                     : arrangement);
        });
        connect(menu, &QMenu::aboutToShow, action, [action, current] { action->setChecked(current()); });
    }
}

void ViewCommands::addBlocks(QMenu* menu) {
    m_folding = new GroupFolding(m_document, m_canvas, this);
    m_folding->addTo(menu);
    m_modelActions->add(m_folding->actions());
    menu->addSeparator();
    const auto option = [&](const QString& text, const QString& tip, bool LayoutOptions::*value) {
        QAction* action = m_modelActions->add(menu->addAction(text));
        action->setCheckable(true);
        action->setToolTip(tip);
        action->setChecked(m_document->layoutOptions().*value);
        connect(action, &QAction::triggered, this, [this, value](bool on) {
            LayoutOptions options = m_document->layoutOptions();
            options.*value = on;
            m_canvas->view()->holdStill(m_document->current());
            m_document->setLayoutOptions(options);
        });
        // Bookmarks also change this.
        connect(menu, &QMenu::aboutToShow, action,
                [this, action, value] { action->setChecked(m_document->layoutOptions().*value); });
    };
    option(tr("Attach Batch Norms and &Activations"),
           tr("Shows folded batch norms and fused activations as compact rows of their layer"),
           &LayoutOptions::compact);
    option(tr("Simplify Shape Arithmetic and Shared Tensors"),
           tr("Draws shape arithmetic as one box, and tensors that many layers read (masks, embeddings) as "
              "labels"),
           &LayoutOptions::tidy);
}

void ViewCommands::addSideBySide() {
    QAction* sides = add(
        m_menu, tr("Side b&y Side"), keySequence("Ctrl+\\"),
        tr("Shows the graph of the baseline, or of the previous configuration, next to the current graph"),
        [this] { m_graph->sideBySide()->setShown(!m_graph->sideBySide()->shown()); });
    sides->setCheckable(true);
    connect(m_graph->sideBySide(), &SideBySide::shownChanged, sides, &QAction::setChecked);
}

void ViewCommands::addNavigation() {
    add(m_menu, tr("&Next Layer by Sensitivity"), keySequence("]"),
        tr("Steps through the layers in the order of the metric, worst first"), [this] { goToWorse(1); });
    add(m_menu, tr("&Previous Layer by Sensitivity"), keySequence("["), {}, [this] { goToWorse(-1); });
    m_selections = new SelectionHistory(m_document, this);
    QAction* back = addCommand(m_menu, tr("Selection Back"), keySequence("Alt+Left"), {}, [this] {
        m_selections->back();
        m_canvas->view()->ensureVisible(m_document->current());
    });
    QAction* forward = addCommand(m_menu, tr("Selection Forwar&d"), keySequence("Alt+Right"), {}, [this] {
        m_selections->forward();
        m_canvas->view()->ensureVisible(m_document->current());
    });
    const auto refresh = [this, back, forward] {
        back->setEnabled(m_selections->canGoBack());
        forward->setEnabled(m_selections->canGoForward());
    };
    connect(m_selections, &SelectionHistory::changed, this, refresh);
    refresh();
    add(m_menu, tr("Next Match"), keySequence("F3"),
        tr("Selects the next row of the layer table as filtered and sorted"), [this] { goToMatch(1); });
    add(m_menu, tr("Pre&vious Match"), keySequence("Shift+F3"), {}, [this] { goToMatch(-1); });
}

/// Goes to the next layer in the order of the metric, worst first.
void ViewCommands::goToWorse(int step) {
    const Metric shown = m_canvas->metric();
    const Metric metric = shown == Metric::None ? Metric::LocalQs : shown;
    const Overlay overlay = overlayOf(*m_document, m_document->layers(), metric, m_canvas->scaleChoice());
    std::vector<std::pair<double, NodeId>> order;
    for (const LayerResult& layer : m_document->layers())
        if (const auto value = overlay.valueOf(layer.node))
            order.emplace_back(-overlay.scale.axisPosition(*value), layer.node);
    if (order.empty()) return;
    std::ranges::sort(order);
    auto here = std::ranges::find(order, m_document->current(), &std::pair<double, NodeId>::second);
    std::ptrdiff_t place = here == order.end() ? (step > 0 ? -1 : 0) : here - order.begin();
    place = std::clamp<std::ptrdiff_t>(place + step, 0, static_cast<std::ptrdiff_t>(order.size()) - 1);
    m_document->select(order[static_cast<std::size_t>(place)].second);
    m_canvas->view()->ensureVisible(m_document->current());
}

/// Moves in the order of the table, wrapping around.
void ViewCommands::goToMatch(int step) {
    if (m_table->filter()->rowCount() == 0) return;
    NodeId next = m_table->neighbor(step);
    if (!next.valid() || next == m_document->current()) {
        const QModelIndex end = m_table->filter()->index(step > 0 ? 0 : m_table->filter()->rowCount() - 1, 0);
        next = NodeId(static_cast<std::size_t>(m_table->filter()->mapToSource(end).row()));
    }
    m_document->select(next);
    m_canvas->view()->ensureVisible(next);
}

bool ViewCommands::selectMostSensitive() {
    NodeId worst;
    double most = -1;
    for (const LayerResult& layer : m_document->layers()) {
        if (!layer.quantizable || !layer.local || !std::isfinite(layer.local->qs) || layer.local->qs <= most)
            continue;
        most = layer.local->qs;
        worst = layer.node;
    }
    if (!worst.valid()) return false;
    m_document->select(worst);
    m_canvas->view()->ensureVisible(worst);
    if (most >= 0) m_table->view()->sortByColumn(LayerTableModel::LocalQs, Qt::DescendingOrder);
    m_table->view()->scrollToTop();
    return true;
}

}  // namespace quantloupe::ui
