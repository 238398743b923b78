// SPDX-License-Identifier: Apache-2.0
#include "window/edit_commands.h"

#include <QApplication>
#include <QClipboard>

namespace quantloupe::ui {

namespace {

/// Lets a button run an action, and shows the state and the keys of the action on it.
void connectButton(QPushButton* button, QAction* action) {
    const auto refresh = [button, action] {
        button->setEnabled(action->isEnabled());
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        const QString name = action->text().remove(QLatin1Char('&'));
        button->setToolTip(keys.isEmpty() ? name : QStringLiteral("%1 (%2)").arg(name, keys));
    };
    QObject::connect(action, &QAction::changed, button, refresh);
    QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
    refresh();
}

}  // namespace

EditCommands::EditCommands(Document* document, LayerTable* table, WorkTabs* work, SummaryBar* summary,
                           ModelActions* modelActions, QMainWindow* window)
    : QObject(window), m_document(document), m_table(table), m_work(work) {
    QMenu* edit = window->menuBar()->addMenu(tr("&Edit"));
    addUndo(edit, summary);
    edit->addSeparator();
    addSelecting(edit, modelActions);
    addCopying(edit, modelActions);
}

void EditCommands::addUndo(QMenu* edit, SummaryBar* summary) {
    QUndoStack* stack = m_document->undoStack();
    QAction* undo = stack->createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = stack->createRedoAction(this, tr("&Redo"));
    redo->setShortcuts({keySequence("Ctrl+Shift+Z"), keySequence("Ctrl+Y")});
    edit->addAction(undo);
    edit->addAction(redo);
    connectButton(summary->undoButton(), undo);
    connectButton(summary->redoButton(), redo);
}

void EditCommands::addSelecting(QMenu* edit, ModelActions* modelActions) {
    modelActions->add(addCommand(edit, tr("&Find Layers"), QKeySequence::Find, {}, [this] { findLayers(); }));
    modelActions->add(
        addCommand(edit, tr("Select &All Layers"), QKeySequence::SelectAll,
                   tr("Selects only the visible rows if the table is filtered or has the focus"),
                   [this] { selectAll(); }));
    m_selectActions << addCommand(edit, tr("Select &Everything Upstream"), keySequence("Alt+Up"),
                                  tr("Adds all layers upstream of the selected layers"),
                                  [this] { selectReachable(upstreamOf); })
                    << addCommand(edit, tr("Select E&verything Downstream"), keySequence("Alt+Down"),
                                  tr("Adds all layers downstream of the selected layers"),
                                  [this] { selectReachable(downstreamOf); });
    modelActions->add(m_selectActions);
}

void EditCommands::addCopying(QMenu* edit, ModelActions* modelActions) {
    m_copyActions << addCommand(edit, tr("Copy Layer &Names"), keySequence("Ctrl+Shift+C"), {}, [this] {
        QStringList names;
        for (const NodeId node : m_document->selection())
            names.append(QString::fromStdString(m_document->graph()->node(node).name));
        QApplication::clipboard()->setText(names.join(QLatin1Char('\n')));
    });
    modelActions->add(m_copyActions);
    modelActions->add(addCommand(edit, tr("Copy &Table as CSV"), {}, tr("Copies the visible rows"),
                                 [this] { QApplication::clipboard()->setText(m_table->asCsv()); }));
}

void EditCommands::findLayers() {
    m_work->show();
    m_work->showTab(WorkTabs::Layers);
    m_table->filterLine()->setFocus();
    m_table->filterLine()->selectAll();
}

void EditCommands::selectAll() {
    const bool rows = m_table->isFiltered() || m_table->view()->hasFocus();
    std::vector<NodeId> all = rows ? m_table->shownLayers() : std::vector<NodeId>();
    for (std::size_t i = 0; i < m_document->graph()->nodeCount() && !rows; ++i) all.push_back(NodeId(i));
    const NodeId current = all.empty() ? NodeId() : all.front();
    m_document->select(std::move(all), current);
}

/// Starts from the selected layers and keeps the current one.
void EditCommands::selectReachable(NodeSet (*reach)(const Graph&, std::span<const NodeId>)) {
    if (m_document->selection().empty()) return;
    const NodeSet reached = reach(*m_document->graph(), m_document->selection());
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < reached.size(); ++i)
        if (reached[i]) nodes.push_back(NodeId(i));
    m_document->select(std::move(nodes), m_document->current());
}

}  // namespace quantloupe::ui
