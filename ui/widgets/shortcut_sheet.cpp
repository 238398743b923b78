// SPDX-License-Identifier: Apache-2.0
#include "widgets/shortcut_sheet.h"

#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include "style/theme.h"
#include "widgets/basics.h"
#include "widgets/command_palette.h"

namespace quantloupe::ui {

ShortcutSheet::ShortcutSheet(const QList<QAction*>& actions, QWidget* parent) : QDialog(parent) {
    const int unit = fontMetrics().height();
    setWindowTitle(QStringLiteral("Shortcuts"));
    auto* body = new QWidget;
    body->setObjectName(QStringLiteral("panelBody"));
    auto* grid = new QGridLayout(body);
    grid->setContentsMargins(unit, unit, unit, unit);
    grid->setHorizontalSpacing(unit * 2);
    grid->setVerticalSpacing(unit / 3);
    QString group;
    int row = 0;
    const auto add = [&](const QString& name, const QString& keys) {
        grid->addWidget(makeLabel(name, ""), row, 0);
        auto* label = makeLabel(keys, "muted");
        label->setFont(numberFont(font()));
        grid->addWidget(label, row++, 1);
    };
    for (const QAction* action : actions) {
        QStringList keys;
        for (const QKeySequence& sequence : action->shortcuts()) keys << sequence.toString(QKeySequence::NativeText);
        // Keys that belong to the graph and the table are only told of behind a tab.
        if (keys.isEmpty() && action->text().contains(QLatin1Char('\t'))) keys << action->text().section(QLatin1Char('\t'), 1);
        if (keys.isEmpty()) continue;
        const QString menu = action->property("menuPath").toString().section(QStringLiteral(" \u25b8"), 0, 0);
        if (menu != group) {
            group = menu;
            grid->addWidget(new SectionHeading(menu), row++, 0, 1, 2);
        }
        add(actionName(*action), keys.join(QStringLiteral(", ")));
    }
    grid->addWidget(new SectionHeading(QStringLiteral("In the graph")), row++, 0, 1, 2);
    add(QStringLiteral("Walk along the edges"), QStringLiteral("arrow keys"));
    add(QStringLiteral("Zoom to the pointer"), QStringLiteral("Ctrl+wheel"));
    add(QStringLiteral("Select one more layer"), QStringLiteral("Shift+click"));
    grid->setRowStretch(row, 1);
    grid->setColumnStretch(0, 1);
    auto* scroll = new QScrollArea;
    scroll->setObjectName(QStringLiteral("panel"));
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(body);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(scroll);
    resize(unit * 30, unit * 40);
}

}  // namespace quantloupe::ui
