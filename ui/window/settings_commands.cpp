// SPDX-License-Identifier: Apache-2.0
#include "window/settings_commands.h"

#include <QActionGroup>
#include <QSettings>
#include <QSignalBlocker>

#include "style/theme_choice.h"
#include "window/menu_actions.h"

namespace quantloupe::ui {

SettingsCommands::SettingsCommands(Document* document, QMenu* view, QObject* parent)
    : QObject(parent), m_document(document) {
    view->addSeparator();
    addThemes(view->addMenu(tr("Them&e")));
    addSettings(view->addMenu(tr("Se&ttings")));
}

void SettingsCommands::addThemes(QMenu* menu) {
    auto* group = new QActionGroup(this);
    const std::pair<ThemeChoice, QString> choices[] = {{ThemeChoice::System, tr("&System Theme")},
                                                       {ThemeChoice::Light, tr("&Light Theme")},
                                                       {ThemeChoice::Dark, tr("&Dark Theme")}};
    for (const auto& [choice, text] : choices) {
        QAction* action = addCommand(
            menu, text, {}, choice == ThemeChoice::System ? tr("Uses the theme of the desktop") : QString(),
            [choice = choice] { chooseTheme(choice); });
        action->setCheckable(true);
        group->addAction(action);
        // Another window may have changed this.
        connect(menu, &QMenu::aboutToShow, action,
                [action, choice = choice] { action->setChecked(chosenTheme() == choice); });
    }
}

QAction* SettingsCommands::addSetting(QMenu* menu, const QString& text, const QString& setting,
                                      bool initially) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setChecked(QSettings().value(setting, initially).toBool());
    connect(action, &QAction::toggled, this, [setting](bool on) { QSettings().setValue(setting, on); });
    return action;
}

void SettingsCommands::addSettings(QMenu* menu) {
    m_backgroundEvaluation =
        addSetting(menu, tr("&Evaluate Leave-One-Out When Idle"), QStringLiteral("measureWhileIdle"), true);
    if (m_backgroundEvaluation->isChecked()) m_document->setBackgroundEvaluation(true);
    connect(m_backgroundEvaluation, &QAction::toggled, m_document, &Document::setBackgroundEvaluation);
    addSetting(menu, tr("Reopen the Last Session at &Startup"), QStringLiteral("session/reopen"), false)
        ->setToolTip(tr("When this is off, Quantloupe asks at startup"));
    addSetting(menu, tr("N&otify Me When a Long Evaluation Finishes"), QStringLiteral("notify"), true);
}

void SettingsCommands::disableBackgroundEvaluation() {
    m_document->setBackgroundEvaluation(false);
    const QSignalBlocker keepsSetting(m_backgroundEvaluation);
    m_backgroundEvaluation->setChecked(false);
}

}  // namespace quantloupe::ui
