// SPDX-License-Identifier: Apache-2.0
// Previewed rules on the canvas: "skip until", and the layers that a rule would cover.
#include <algorithm>

#include "graph/graph_canvas.h"

namespace quantloupe::ui {

void GraphCanvas::startUntil(NodeId from) {
    m_untilFrom = from;
    m_untilEnds.clear();
    previewUntil();
    setFocus();
}

void GraphCanvas::cancelUntil() {
    if (!m_untilFrom.valid()) return;
    m_untilFrom = NodeId();
    m_untilEnds.clear();
    clearPreview();
}

void GraphCanvas::setPreview(NodeSet covered, const QString& words, bool rule) {
    m_previewed = std::move(covered);
    m_previewIsRule = rule;
    m_previewText = m_document->withLayerNames(words);
    markPreviewed();
    Q_EMIT previewChanged();
}

void GraphCanvas::clearPreview() {
    if (m_previewed.empty() && m_previewText.isEmpty()) return;
    setPreview({}, {});
}

void GraphCanvas::markPreviewed() {
    m_scene.previewed.assign(m_picture ? m_picture->nodes.size() : 0, false);
    for (std::size_t i = 0; i < m_previewed.size(); ++i)
        if (m_previewed[i])
            if (const auto box = m_index.boxOf(NodeId(i))) m_scene.previewed[*box] = true;
    sceneChanged();
}

void GraphCanvas::previewUntil() {
    const QString from = m_document->layerName(m_untilFrom);
    // With the keyboard, the user chooses with the arrow keys; the current layer is the cursor.
    NodeId to = m_scene.hovered ? endOf(*m_scene.hovered) : NodeId();
    if (!m_scene.hovered) to = m_document->current();
    std::vector<NodeId> ends = m_untilEnds;
    if (to.valid() && to != m_untilFrom && std::ranges::find(ends, to) == ends.end()) ends.push_back(to);
    if (ends.empty()) {
        setPreview(
            {},
            tr("Skip from %1 until\u2026 Click the last layer, Ctrl+click to choose several, Esc to cancel")
                .arg(from));
        return;
    }
    // In a narrow window, the name is shortened, not the text about it.
    const int room = width() / std::max(1, fontMetrics().averageCharWidth()) - 78;
    const QString end = ends.size() == 1 ? fontMetrics().elidedText(
                                               m_document->layerName(ends[0]), Qt::ElideMiddle,
                                               std::clamp(room, 12, 40) * fontMetrics().averageCharWidth())
                                         : tr("%1 ends").arg(ends.size());
    const ConfigEdit edit = skipUntil(*m_graph, m_document->config(), m_untilFrom, ends);
    if (!edit.complaint.isEmpty()) {
        setPreview({}, edit.complaint);
        return;
    }
    const RulePreview preview =
        previewRule(*m_graph, m_document->config(), m_document->layers(), edit.next.rules.back());
    setPreview(preview.covered,
               tr("Skip until %1: %2 \u2014 click or Enter to apply, Ctrl+click to add another end")
                   .arg(end, previewWords(preview)));
}

/// Returns false if no end is being chosen. `more`: further ends follow.
bool GraphCanvas::endUntil(std::size_t box, bool more) {
    if (!choosingUntil()) return false;
    const NodeId from = m_untilFrom, to = endOf(box);
    std::vector<NodeId> ends = m_untilEnds;
    if (to != from && std::ranges::find(ends, to) == ends.end()) ends.push_back(to);
    if (more) {
        // An end without a path to it is not added; the preview shows the reason.
        if (skipUntil(*m_graph, m_document->config(), from, ends).complaint.isEmpty())
            m_untilEnds = std::move(ends);
        previewUntil();
        return true;
    }
    cancelUntil();
    if (!ends.empty()) Q_EMIT untilChosen(from, ends);
    return true;
}

}  // namespace quantloupe::ui
