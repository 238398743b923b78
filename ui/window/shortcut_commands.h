// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds commands by name or by key: the command palette and the list of shortcuts, with the keys that the
// user has assigned.

#include <QMainWindow>
#include <QObject>

#include "commands/shortcut_keys.h"
#include "panels/layer_view_menu.h"

namespace quantloupe::ui {

class ShortcutCommands : public QObject {
    Q_OBJECT
  public:
    /// `views`: the views of the layer table, which are also commands.
    ShortcutCommands(LayerViewMenu* views, QMainWindow* window);
    void addTo(QMenu* help);
    /// Assigns the user's keys to all commands in the menus. Call this once, after they have been built.
    void adoptKeys();
    ShortcutKeys* keys() { return &m_keys; }

  private:
    void showPalette();
    void showShortcuts();

    LayerViewMenu* m_views;
    QMainWindow* m_window;
    ShortcutKeys m_keys;
};

}  // namespace quantloupe::ui
