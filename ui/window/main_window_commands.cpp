// SPDX-License-Identifier: Apache-2.0
// The command palette, the shortcut sheet, and the commands for manual evaluation and for copying settings.
#include <QApplication>
#include <QMenuBar>

#include "dialogs/shortcut_sheet.h"
#include "panels/layer_view_menu.h"
#include "widgets/command_palette.h"
#include "window/main_window.h"

namespace quantloupe::ui {

namespace {

void collect(const QMenu* menu, const QString& path, QList<QAction*>& actions) {
    for (QAction* action : menu->actions()) {
        if (action->isSeparator() || action->text().isEmpty()) continue;
        if (const QMenu* submenu = action->menu()) {
            collect(submenu, path + submenu->title() + QStringLiteral(" \u25b8 "), actions);
            continue;
        }
        action->setProperty("menuPath", QString(path).remove(QLatin1Char('&')));
        actions.append(action);
    }
}

}  // namespace

void MainWindow::buildCommands(QMenu* help) {
    addAction(help, tr("Co&mmand Palette\u2026"), QKeySequence(QStringLiteral("Ctrl+Shift+P")),
              tr("Finds any command by a few letters of its name"), [this] { showPalette(); });
    addAction(help, tr("&Shortcuts"), QKeySequence(QKeySequence::HelpContents),
              tr("Lists all keyboard shortcuts and lets you change them"), [this] { showShortcuts(); });
}

QList<QAction*> MainWindow::allActions() const {
    QList<QAction*> actions;
    for (const QAction* top : menuBar()->actions())
        if (const QMenu* menu = top->menu())
            collect(menu, menu->title() + QStringLiteral(" \u25b8 "), actions);
    return actions;
}

void MainWindow::showPalette() {
    m_table->views()->refresh();  // another window may have saved one
    auto* palette = new CommandPalette(allActions(), this);
    palette->setAttribute(Qt::WA_DeleteOnClose);
    palette->showOver(this);
}

void MainWindow::showShortcuts() {
    auto* sheet = new ShortcutSheet(allActions(), &m_keys, this);
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    connect(sheet, &ShortcutSheet::keysChanged, this, [] {
        for (QWidget* widget : QApplication::topLevelWidgets())
            if (auto* window = qobject_cast<MainWindow*>(widget)) window->shortcutKeys()->reload();
    });
    sheet->show();
}

}  // namespace quantloupe::ui
