// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adds commands to menus, lists the commands of a menu bar, and disables commands while no model is open.

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QMenu>
#include <QMenuBar>
#include <QObject>
#include <QWidget>
#include <functional>

#include "document/document.h"

namespace quantloupe::ui {

/// Returns keys that are the same on every platform, for example "Ctrl+W".
inline QKeySequence keySequence(const char* keys) { return QKeySequence(QString::fromLatin1(keys)); }

/// Adds a command to a menu. `tip` explains it; it may be empty.
QAction* addCommand(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                    std::function<void()> run);

/// Returns all commands in the menus, in menu order, and stores the path of the menu in the property
/// `menuPath` of each.
QList<QAction*> commandsIn(const QMenuBar* menuBar);

/// Commands and buttons that are enabled only while a model is open.
class ModelActions : public QObject {
    Q_OBJECT
  public:
    explicit ModelActions(Document* document, QObject* parent = nullptr);
    void add(const QList<QAction*>& actions);
    QAction* add(QAction* action);
    void add(QWidget* button);

  private:
    Document* m_document;
    QList<QAction*> m_actions;
    QList<QWidget*> m_buttons;
};

}  // namespace quantloupe::ui
