// SPDX-License-Identifier: Apache-2.0
// The menu Precision of the layers and of the graph's context menu, and the preview of searched precisions.
#include <QMenu>
#include <algorithm>

#include "models/tune_words.h"
#include "window/main_window.h"

namespace quantloupe::ui {

void MainWindow::buildPrecisionMenu() {
    m_precisionMenu = m_layersMenu->addMenu(tr("P&recision"));
    m_precisionMenu->setToolTipsVisible(true);
    const auto add = [this](const QString& text, int key, const QString& tip,
                            const std::optional<Precision>& precision) {
        m_precisionActions << addAction(
            m_precisionMenu, text, QKeySequence(QStringLiteral("Ctrl+Alt+%1").arg(key)), tip,
            [this, precision] {
                runEdit([&] {
                    return setPrecision(*m_document.graph(), m_document.config(), m_document.layers(),
                                        m_document.selection(), precision);
                });
            });
    };
    struct Choice {
        const char* name;
        QString tip;
    };
    const Choice choices[] = {{"float32", tr("The layer is kept in float")},
                              {"float16", tr("Weights, inputs and outputs are rounded to half precision")},
                              {"w8a8", tr("8-bit weights and activations")},
                              {"w4a8", tr("4-bit weights, 8-bit activations")},
                              {"w8a16", tr("8-bit weights, 16-bit activations")},
                              {"w4a16", tr("4-bit weights, 16-bit activations")},
                              {"w16a16", tr("16-bit weights and activations")}};
    int key = 1;
    for (const Choice& choice : choices) {
        const Precision precision = precisionNamed(choice.name);
        add(precisionText(precision), key++, choice.tip, precision);
    }
    m_precisionMenu->addSeparator();
    add(tr("Default (Rules and Network)"), 0, tr("Removes the layer's own precision"), std::nullopt);
}

/// Shows in the graph which layers would change if the point of the search were applied.
void MainWindow::previewPoint(const TunePoint* point) {
    GraphCanvas* canvas = m_graph->canvas();
    if (!point) {
        if (std::exchange(m_previewsPoint, false)) canvas->clearPreview();
        return;
    }
    if (!m_previewsPoint && !canvas->previewText().isEmpty()) return;  // of a rule that is being chosen
    NodeSet changed(m_document.layers().size(), false);
    QStringList names;
    for (const auto& [name, precision] : point->precisions) {
        const auto node = m_document.graph()->findNode(name);
        const LayerResult* layer = node ? m_document.layer(*node) : nullptr;
        if (!layer || !changesPrecision(*layer, precision)) continue;
        changed[node->index()] = true;
        names << tr("%1 %2").arg(m_document.layerName(*node),
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
    m_previewsPoint = true;
    canvas->setPreview(std::move(changed), words, false);
}

}  // namespace quantloupe::ui
