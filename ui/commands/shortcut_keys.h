// SPDX-License-Identifier: Apache-2.0
#pragma once
// The keys of a window's commands: those they came with, and in their place those that the person chose, which are kept
// in the settings. A command is known by its place in the menus, as it read when the window was made.

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <vector>

namespace quantloupe::ui {

class ShortcutKeys {
  public:
    /// Takes the actions' present keys for those they come with, then gives them the person's. `menuPath` is read from
    /// each action's property of that name; one with the property `comesAndGoes` is passed over, and need not outlive this.
    void adopt(const QList<QAction*>& actions);
    /// Reads the person's choice again, after another window has changed it.
    void reload();

    bool knows(const QAction* action) const { return find(action) != nullptr; }
    bool isDefault(const QAction* action) const;
    /// The command that has these keys, other than `except`; null: nobody.
    QAction* holder(const QKeySequence& keys, const QAction* except) const;
    /// Empty keys: none. Whoever had them loses them.
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
    std::vector<Command> m_commands;
};

}  // namespace quantloupe::ui
