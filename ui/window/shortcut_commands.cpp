// SPDX-License-Identifier: Apache-2.0
#include "window/shortcut_commands.h"

#include <QApplication>

#include "dialogs/shortcut_sheet.h"
#include "widgets/command_palette.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

ShortcutCommands::ShortcutCommands(LayerViewMenu* views, QMainWindow* window)
    : QObject(window), m_views(views), m_window(window) {}

void ShortcutCommands::addTo(QMenu* help) {
    addCommand(help, tr("Co&mmand Palette\u2026"), keySequence("Ctrl+Shift+P"),
               tr("Finds any command by a few letters of its name"), [this] { showPalette(); });
    addCommand(help, tr("&Shortcuts"), QKeySequence(QKeySequence::HelpContents),
               tr("Lists all keyboard shortcuts and lets you change them"), [this] { showShortcuts(); });
}

void ShortcutCommands::adoptKeys() { m_keys.adopt(commandsIn(m_window->menuBar())); }

void ShortcutCommands::showPalette() {
    m_views->refresh();  // another window may have saved one
    auto* palette = new CommandPalette(commandsIn(m_window->menuBar()), m_window);
    palette->setAttribute(Qt::WA_DeleteOnClose);
    palette->showOver(m_window);
}

void ShortcutCommands::showShortcuts() {
    auto* sheet = new ShortcutSheet(commandsIn(m_window->menuBar()), &m_keys, m_window);
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    connect(sheet, &ShortcutSheet::keysChanged, this, [] {
        for (const QWidget* window : QApplication::topLevelWidgets())
            for (auto* commands : window->findChildren<ShortcutCommands*>()) commands->m_keys.reload();
    });
    sheet->show();
}

}  // namespace quantloupe::ui
