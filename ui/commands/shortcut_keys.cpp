// SPDX-License-Identifier: Apache-2.0
#include "commands/shortcut_keys.h"

#include <QSettings>
#include <algorithm>

namespace quantloupe::ui {

namespace {

const QString kGroup = QStringLiteral("shortcuts");

/// "View.Fit Graph": without mnemonics and ellipses, which may change, and without characters that are
/// special in setting names.
QString commandName(const QAction& action) {
    QString name = action.property("menuPath").toString().section(QStringLiteral(" \u25b8"), 0, 0) +
                   QLatin1Char('.') + action.text().section(QLatin1Char('\t'), 0, 0);
    name.remove(QLatin1Char('&')).remove(QChar(0x2026)).replace(QLatin1Char('/'), QLatin1Char(' '));
    return name;
}

}  // namespace

void ShortcutKeys::adopt(const QList<QAction*>& actions) {
    m_commands.clear();
    // Text after a tab only shows keys that the graph and the table handle themselves. A recent file is not a
    // command: its entry is deleted when another file is opened.
    for (QAction* action : actions)
        if (!action->text().contains(QLatin1Char('\t')) && !action->property("comesAndGoes").toBool())
            m_commands.push_back({action, commandName(*action), action->shortcuts()});
    reload();
}

void ShortcutKeys::reload() {
    QSettings settings;
    settings.beginGroup(kGroup);
    for (const Command& command : m_commands) {
        if (!settings.contains(command.name)) {
            command.action->setShortcuts(command.defaults);
            continue;
        }
        QList<QKeySequence> keys;
        for (const QString& text : settings.value(command.name).toStringList())
            if (!text.isEmpty()) keys.append(QKeySequence(text, QKeySequence::PortableText));
        command.action->setShortcuts(keys);
    }
}

const ShortcutKeys::Command* ShortcutKeys::find(const QAction* action) const {
    const auto found = std::ranges::find(m_commands, action, &Command::action);
    return found == m_commands.end() ? nullptr : &*found;
}

bool ShortcutKeys::isDefault(const QAction* action) const {
    const Command* command = find(action);
    return !command || command->action->shortcuts() == command->defaults;
}

QAction* ShortcutKeys::holder(const QKeySequence& keys, const QAction* except) const {
    if (keys.isEmpty()) return nullptr;
    for (const Command& command : m_commands)
        if (command.action != except && command.action->shortcuts().contains(keys)) return command.action;
    return nullptr;
}

void ShortcutKeys::store(const Command& command, const QList<QKeySequence>& keys) {
    QSettings settings;
    settings.beginGroup(kGroup);
    if (keys == command.defaults) {
        settings.remove(command.name);
    } else {
        QStringList texts;
        for (const QKeySequence& sequence : keys) texts << sequence.toString(QKeySequence::PortableText);
        if (texts.isEmpty()) texts << QString();  // an empty list would be read as "not stored"
        settings.setValue(command.name, texts);
    }
    command.action->setShortcuts(keys);
}

void ShortcutKeys::takeFromOthers(const QKeySequence& keys, const QAction* action) {
    const QAction* other = holder(keys, action);
    if (!other) return;
    QList<QKeySequence> left = other->shortcuts();
    left.removeAll(keys);
    store(*find(other), left);
}

void ShortcutKeys::set(QAction* action, const QKeySequence& keys) {
    const Command* command = find(action);
    if (!command) return;
    takeFromOthers(keys, action);
    store(*command, keys.isEmpty() ? QList<QKeySequence>() : QList<QKeySequence>{keys});
}

void ShortcutKeys::reset(QAction* action) {
    const Command* command = find(action);
    if (!command) return;
    for (const QKeySequence& keys : command->defaults) takeFromOthers(keys, action);
    store(*command, command->defaults);
}

void ShortcutKeys::resetAll() {
    QSettings().remove(kGroup);
    reload();
}

}  // namespace quantloupe::ui
