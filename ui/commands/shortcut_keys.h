// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keyboard shortcuts of the commands in a window: the default shortcuts, or shortcuts assigned by the user,
// which are stored in the settings. A command is identified by its menu path and text at the time when the
// window was created.

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <vector>

namespace quantloupe::ui {

class ShortcutKeys {
  public:
    /// Uses the current keys of the actions as the defaults, then assigns the user's keys. The menu path is
    /// read from the property `menuPath` of each action. Actions with the property `comesAndGoes` are ignored
    /// and need not outlive this object.
    void adopt(const QList<QAction*>& actions);
    /// Reads the user's keys again after another window has changed them.
    void reload();

    bool knows(const QAction* action) const { return find(action) != nullptr; }
    bool isDefault(const QAction* action) const;
    /// Returns the command other than `except` that uses these keys; null if there is none.
    QAction* holder(const QKeySequence& keys, const QAction* except) const;
    /// Assigns the keys and removes them from any other command. Empty: removes the keys of the command.
    void set(QAction* action, const QKeySequence& keys);
    void reset(QAction* action);
    void resetAll();

  private:
    struct Command {
        QAction* action;
        QString name;
        QList<QKeySequence> defaults;
    };
    const Command* find(const QAction* action) const;
    void store(const Command& command, const QList<QKeySequence>& keys);
    void takeFromOthers(const QKeySequence& keys, const QAction* action);
    std::vector<Command> m_commands;
};

}  // namespace quantloupe::ui
