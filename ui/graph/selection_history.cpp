// SPDX-License-Identifier: Apache-2.0
#include "graph/selection_history.h"

namespace quantloupe::ui {

SelectionHistory::SelectionHistory(Document* document, QObject* parent)
    : QObject(parent), m_document(document) {
    connect(document, &Document::selectionChanged, this, &SelectionHistory::remember);
    connect(document, &Document::modelChanged, this, [this] {
        m_steps.clear();
        m_place = 0;
        Q_EMIT changed();
    });
}

void SelectionHistory::remember() {
    if (m_going || m_document->selection().empty()) return;
    const Step step{m_document->selection(), m_document->current()};
    if (m_place > 0 && m_steps[m_place - 1] == step) return;
    m_steps.resize(m_place);
    m_steps.push_back(step);
    if (m_steps.size() > kMost) m_steps.erase(m_steps.begin());
    m_place = m_steps.size();
    Q_EMIT changed();
}

void SelectionHistory::back() {
    if (!canGoBack()) return;
    --m_place;
    go();
}

void SelectionHistory::forward() {
    if (!canGoForward()) return;
    ++m_place;
    go();
}

void SelectionHistory::go() {
    m_going = true;
    m_document->select(m_steps[m_place - 1].nodes, m_steps[m_place - 1].current);
    m_going = false;
    Q_EMIT changed();
}

}  // namespace quantloupe::ui
