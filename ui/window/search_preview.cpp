// SPDX-License-Identifier: Apache-2.0
#include "window/search_preview.h"

#include <algorithm>
#include <utility>

#include "models/tune_words.h"

namespace quantloupe::ui {

SearchPreview::SearchPreview(Document* document, GraphCanvas* canvas, TuneFinder* finder, QObject* parent)
    : QObject(parent), m_document(document), m_canvas(canvas) {
    connect(finder, &TuneFinder::pointed, this, &SearchPreview::show);
}

void SearchPreview::show(const TunePoint* point) {
    if (!point) {
        if (std::exchange(m_shown, false)) m_canvas->clearPreview();
        return;
    }
    if (!m_shown && !m_canvas->previewText().isEmpty()) return;  // of a rule that is being chosen
    NodeSet changed(m_document->layers().size(), false);
    QStringList names;
    for (const auto& [name, precision] : point->precisions) {
        const auto node = m_document->graph()->findNode(name);
        const LayerResult* layer = node ? m_document->layer(*node) : nullptr;
        if (!layer || !changesPrecision(*layer, precision)) continue;
        changed[node->index()] = true;
        names << tr("%1 %2").arg(m_document->layerName(*node),
                                 QString::fromStdString(precisionName(precision)));
    }
    constexpr qsizetype kNamed = 3;
    QString words = names.isEmpty() ? tr("No layer changes: this is the current choice")
                    : names.size() == 1
                        ? tr("1 layer changes: %1").arg(names.front())
                        : tr("%1 layers change: %2")
                              .arg(names.size())
                              .arg(names.first(std::min(kNamed, names.size())).join(QStringLiteral(", ")));
    if (names.size() > kNamed) words += QStringLiteral(", \u2026");
    m_shown = true;
    m_canvas->setPreview(std::move(changed), words, false);
}

}  // namespace quantloupe::ui
