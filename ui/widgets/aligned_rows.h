// SPDX-License-Identifier: Apache-2.0
#pragma once
// One grid for the rows of a form, made by makeRow(): their controls begin at the same horizontal position.

#include <QLabel>
#include <QLayout>
#include <algorithm>

namespace quantloupe::ui {

/// The object name of the labels of rows.
inline const QString kRowLabel = QStringLiteral("rowLabel");

inline void alignRows(const QWidget* form) {
    int widest = 0;
    const auto labels = form->findChildren<QLabel*>(kRowLabel);
    for (const QLabel* label : labels) widest = std::max(widest, label->sizeHint().width());
    for (QLabel* label : labels) label->setMinimumWidth(widest);
}

/// Puts the controls of all sections of a panel on one vertical line, also those that are indented. Longer
/// labels wrap.
inline void alignSections(const QWidget* panel) {
    for (QLabel* label : panel->findChildren<QLabel*>(kRowLabel)) {
        int indent = 0;
        for (const QWidget* at = label->parentWidget(); at && at != panel; at = at->parentWidget())
            if (at->layout()) indent += at->layout()->contentsMargins().left();
        label->setWordWrap(true);
        label->setFixedWidth(panel->fontMetrics().height() * 7 - indent);
    }
}

}  // namespace quantloupe::ui
