// SPDX-License-Identifier: Apache-2.0
// Rules in the making on the canvas: "skip until", and what any of them would cover.
#include <algorithm>

#include "graph/graph_canvas.h"
#include "picture/picture_text.h"

namespace quantloupe::ui {

void GraphCanvas::startUntil(NodeId from) {
    m_untilFrom = from;
    previewUntil();
    setFocus();
}

void GraphCanvas::cancelUntil() {
    if (!m_untilFrom.valid()) return;
    m_untilFrom = NodeId();
    clearPreview();
}

void GraphCanvas::setPreview(NodeSet covered, const QString& words) {
    m_previewed = std::move(covered);
    m_previewText = words;
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
    const auto shortName = [this](NodeId id) { return QString::fromStdString(layerSubtitle(m_graph->node(id), 32)); };
    const QString from = shortName(m_untilFrom);
    // The keyboard chooses with the arrows: the current layer is its cursor.
    NodeId to = m_scene.hovered ? endOf(*m_scene.hovered) : NodeId();
    if (!m_scene.hovered) to = m_document->current();
    if (!to.valid() || to == m_untilFrom) {
        setPreview({}, tr("Skip from %1 until\u2026 click the last layer, Esc to give up").arg(from));
        return;
    }
    // In a narrow window the name gives way, not what is said of it.
    const int room = width() / std::max(1, fontMetrics().averageCharWidth()) - 78;
    const QString end = QString::fromStdString(layerSubtitle(m_graph->node(to), static_cast<std::size_t>(std::clamp(room, 12, 32))));
    const ConfigEdit edit = skipUntil(*m_graph, m_document->config(), m_untilFrom, to);
    if (!edit.complaint.isEmpty()) {
        setPreview({}, edit.complaint);
        return;
    }
    const RulePreview preview =
        previewRule(*m_graph, m_document->config(), m_document->layers(), edit.next.rules.back());
    setPreview(preview.covered,
               tr("Skip until %1: %2 \u2014 click or Enter").arg(end, previewWords(preview)));
}

/// False if no end is being chosen.
bool GraphCanvas::endUntil(std::size_t box) {
    if (!choosingUntil()) return false;
    const NodeId from = m_untilFrom, to = endOf(box);
    cancelUntil();
    if (to != from) Q_EMIT untilChosen(from, to);
    return true;
}

}  // namespace quantloupe::ui
