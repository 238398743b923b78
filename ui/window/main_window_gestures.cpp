// SPDX-License-Identifier: Apache-2.0
// Gestures on the graph: hovering an entry of the Layers menu previews the layers that it would cover.
#include "window/main_window.h"

namespace quantloupe::ui {

void MainWindow::buildGestures() {
    m_gestures = new GraphGestures(&m_document, m_graph, this);
    m_gestures->addTo(m_layersMenu);
    const auto lastRule = [this](auto make) {
        return [this, make]() -> std::optional<SkipRule> {
            if (!m_document.current().valid()) return std::nullopt;
            const ConfigEdit edit = make(m_document.current());
            if (!edit.complaint.isEmpty() || edit.next.rules.empty()) return std::nullopt;
            return edit.next.rules.back();
        };
    };
    m_gestures->previewOn(m_downstreamAction, lastRule([this](NodeId node) {
                              return quantloupe::ui::skipDownstream(*m_document.graph(), m_document.config(),
                                                                    node);
                          }));
    m_gestures->previewOn(m_typeAction, lastRule([this](NodeId node) {
                              return quantloupe::ui::skipType(m_document.config(),
                                                              m_document.graph()->node(node).op);
                          }));
    m_gestures->previewOn(m_untilAction, [this]() -> std::optional<SkipRule> {
        const auto& nodes = m_document.selection();
        if (nodes.size() != 2) return std::nullopt;
        const ConfigEdit edit =
            quantloupe::ui::skipUntil(*m_document.graph(), m_document.config(), nodes[0], nodes[1]);
        if (!edit.complaint.isEmpty()) return std::nullopt;
        return edit.next.rules.back();
    });
}

void MainWindow::buildNavigation(QMenu* view) {
    const auto keys = [](const char* text) { return QKeySequence(QString::fromLatin1(text)); };
    m_selections = new SelectionHistory(&m_document, this);
    QAction* back = addAction(view, tr("Selection &Back"), keys("Alt+Left"), {}, [this] {
        m_selections->back();
        m_graph->canvas()->ensureVisible(m_document.current());
    });
    QAction* forward = addAction(view, tr("Selection For&ward"), keys("Alt+Right"), {}, [this] {
        m_selections->forward();
        m_graph->canvas()->ensureVisible(m_document.current());
    });
    const auto refresh = [this, back, forward] {
        back->setEnabled(m_selections->canGoBack());
        forward->setEnabled(m_selections->canGoForward());
    };
    connect(m_selections, &SelectionHistory::changed, this, refresh);
    refresh();
    m_needModel << addAction(view, tr("Next &Match"), keys("F3"),
                             tr("Selects the next row of the layer table as filtered and sorted"),
                             [this] { nextMatch(1); });
    m_needModel << addAction(view, tr("Previous M&atch"), keys("Shift+F3"), {}, [this] { nextMatch(-1); });
}

/// Starts from the selected layers and keeps the current one.
void MainWindow::selectReachable(NodeSet (*reach)(const Graph&, std::span<const NodeId>)) {
    if (m_document.selection().empty()) return;
    const NodeSet reached = reach(*m_document.graph(), m_document.selection());
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < reached.size(); ++i)
        if (reached[i]) nodes.push_back(NodeId(i));
    m_document.select(std::move(nodes), m_document.current());
}

/// Moves in the order of the table, wrapping around.
void MainWindow::nextMatch(int step) {
    if (m_table->filter()->rowCount() == 0) return;
    NodeId next = m_table->neighbor(step);
    if (!next.valid() || next == m_document.current()) {
        const QModelIndex end = m_table->filter()->index(step > 0 ? 0 : m_table->filter()->rowCount() - 1, 0);
        next = NodeId(static_cast<std::size_t>(m_table->filter()->mapToSource(end).row()));
    }
    m_document.select(next);
    m_graph->canvas()->ensureVisible(next);
}

}  // namespace quantloupe::ui
