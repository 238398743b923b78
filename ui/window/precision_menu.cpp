// SPDX-License-Identifier: Apache-2.0
#include "window/precision_menu.h"

#include "window/menu_actions.h"

namespace quantloupe::ui {

PrecisionMenu::PrecisionMenu(QWidget* parent) : QMenu(tr("P&recision"), parent) {
    setToolTipsVisible(true);
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
    addSeparator();
    add(tr("Default (Rules and Network)"), 0, tr("Removes the layer's own precision"), std::nullopt);
}

void PrecisionMenu::add(const QString& text, int key, const QString& tip,
                        const std::optional<Precision>& precision) {
    addCommand(this, text, QKeySequence(QStringLiteral("Ctrl+Alt+%1").arg(key)), tip,
               [this, precision] { Q_EMIT chosen(precision); });
}

void PrecisionMenu::setUsable(bool usable) {
    setEnabled(usable);
    for (QAction* action : actions())
        if (!action->isSeparator()) action->setEnabled(usable);
}

}  // namespace quantloupe::ui
