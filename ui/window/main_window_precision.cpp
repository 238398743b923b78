// SPDX-License-Identifier: Apache-2.0
// The menu Precision: of the layers, and of the graph's context menu.
#include <QMenu>

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
    add(tr("As Rules and Network"), 0, tr("Removes the layer's own precision"), std::nullopt);
}

}  // namespace quantloupe::ui
