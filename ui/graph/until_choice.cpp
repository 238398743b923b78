// SPDX-License-Identifier: Apache-2.0
#include "graph/until_choice.h"

#include <algorithm>

#include "graph/graph_canvas.h"
#include "graph/rule_preview.h"

namespace quantloupe::ui {

UntilChoice::UntilChoice(Document* document, GraphCanvas* canvas)
    : QObject(canvas), m_document(document), m_canvas(canvas) {}

void UntilChoice::start(NodeId from) {
    m_from = from;
    m_ends.clear();
    preview();
    m_canvas->setFocus();
}

void UntilChoice::cancel() {
    if (!active()) return;
    m_from = NodeId();
    m_ends.clear();
    m_canvas->clearPreview();
}

NodeId UntilChoice::endAt(std::size_t box) const {
    const ShownPicture& shown = m_canvas->shown();
    const NodeId last = shown.endOf(box);
    return active() && last.index() < m_from.index() ? shown.layerOf(box) : last;
}

/// Returns the ends chosen so far and this one, if it is an end.
std::vector<NodeId> UntilChoice::endsWith(NodeId end) const {
    std::vector<NodeId> ends = m_ends;
    if (end.valid() && end != m_from && std::ranges::find(ends, end) == ends.end()) ends.push_back(end);
    return ends;
}

void UntilChoice::preview() {
    const auto box = m_canvas->hoveredBox();
    const std::vector<NodeId> ends = endsWith(box ? endAt(*box) : m_document->current());
    if (ends.empty()) {
        m_canvas->setPreview(
            {},
            tr("Skip from %1 until\u2026 Click the last layer, Ctrl+click to choose several, Esc to cancel")
                .arg(m_document->layerName(m_from)));
        return;
    }
    const Graph& graph = *m_canvas->shown().graph();
    const ConfigEdit edit = skipUntil(graph, m_document->config(), m_from, ends);
    if (!edit.complaint.isEmpty()) {
        m_canvas->setPreview({}, edit.complaint);
        return;
    }
    const RulePreview preview =
        previewRule(graph, m_document->config(), m_document->layers(), edit.next.rules.back());
    const auto textFor = [&](const QString& end) {
        return tr("Skip until %1: %2 \u2014 click applies, Ctrl+click adds ends")
            .arg(end, previewWords(preview));
    };
    // In a narrow window, the name is shortened, not the text about it.
    const QFontMetrics metrics = m_canvas->fontMetrics();
    const int letter = metrics.averageCharWidth();
    const int room = m_canvas->width() - metrics.horizontalAdvance(textFor({})) - 4 * metrics.height();
    m_canvas->setPreview(
        preview.covered,
        textFor(ends.size() == 1 ? metrics.elidedText(m_document->layerName(ends[0]), Qt::ElideMiddle,
                                                      std::max(room, 10 * letter))
                                 : tr("%1 ends").arg(ends.size())));
}

bool UntilChoice::choose(NodeId end, bool more) {
    if (!active()) return false;
    const NodeId from = m_from;
    std::vector<NodeId> ends = endsWith(end);
    if (more) {
        // An end without a path to it is not added; the preview shows the reason.
        if (skipUntil(*m_canvas->shown().graph(), m_document->config(), from, ends).complaint.isEmpty())
            m_ends = std::move(ends);
        preview();
        return true;
    }
    cancel();
    if (!ends.empty()) Q_EMIT chosen(from, ends);
    return true;
}

}  // namespace quantloupe::ui
