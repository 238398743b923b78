// SPDX-License-Identifier: Apache-2.0
// The command palette, the shortcut sheet, and the commands for manual evaluation and for copying settings.
#include <QApplication>
#include <QMenuBar>

#include "panels/layer_view_menu.h"
#include "panels/override_section.h"
#include "widgets/command_palette.h"
#include "widgets/shortcut_sheet.h"
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
    m_layersMenu->addSeparator();
    QAction* hold = m_layersMenu->addAction(tr("&Manual Evaluation"));
    hold->setCheckable(true);
    hold->setShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+H")));
    hold->setToolTip(tr("Edits are not evaluated until you press F5 or turn this off"));
    connect(hold, &QAction::toggled, &m_document, &Document::setHeld);
    connect(&m_document, &Document::heldChanged, hold, [this, hold] { hold->setChecked(m_document.held()); });
    m_layersMenu->addSeparator();
    m_needModel << addAction(m_layersMenu, tr("Copy Layer &Settings"),
                             QKeySequence(QStringLiteral("Ctrl+Alt+C")), {},
                             [this] { m_inspector->overrides()->copySettings(); });
    m_needModel << addAction(m_layersMenu, tr("&Paste Settings to Selected Layers"),
                             QKeySequence(QStringLiteral("Ctrl+Alt+V")), {},
                             [this] { m_inspector->overrides()->pasteSettings(); });
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
