// SPDX-License-Identifier: Apache-2.0
#include "window/menu_actions.h"

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

QAction* addCommand(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip,
                    std::function<void()> run) {
    QAction* action = menu->addAction(text);
    action->setShortcut(keys);
    action->setToolTip(tip);
    action->setStatusTip(tip);
    QObject::connect(action, &QAction::triggered, action, [run = std::move(run)] { run(); });
    return action;
}

QList<QAction*> commandsIn(const QMenuBar* menuBar) {
    QList<QAction*> actions;
    for (const QAction* top : menuBar->actions())
        if (const QMenu* menu = top->menu())
            collect(menu, menu->title() + QStringLiteral(" \u25b8 "), actions);
    return actions;
}

ModelActions::ModelActions(Document* document, QObject* parent) : QObject(parent), m_document(document) {
    connect(document, &Document::modelChanged, this, [this] {
        for (QAction* action : m_actions) action->setEnabled(m_document->hasModel());
        for (QWidget* button : m_buttons) button->setEnabled(m_document->hasModel());
    });
}

void ModelActions::add(const QList<QAction*>& actions) {
    for (QAction* action : actions) add(action);
}

QAction* ModelActions::add(QAction* action) {
    m_actions.append(action);
    action->setEnabled(m_document->hasModel());
    return action;
}

void ModelActions::add(QWidget* button) {
    m_buttons.append(button);
    button->setEnabled(m_document->hasModel());
}

}  // namespace quantloupe::ui
