// SPDX-License-Identifier: Apache-2.0
#pragma once
// The theme and the settings of the program, at the end of the View menu.

#include <QAction>
#include <QMenu>
#include <QObject>

#include "document/document.h"

namespace quantloupe::ui {

class SettingsCommands : public QObject {
    Q_OBJECT
  public:
    /// Appends the menus to the View menu.
    SettingsCommands(Document* document, QMenu* view, QObject* parent);
    /// Turns leave-one-out evaluations off in this window, without changing the setting.
    void disableBackgroundEvaluation();

  private:
    void addThemes(QMenu* menu);
    void addSettings(QMenu* menu);
    QAction* addSetting(QMenu* menu, const QString& text, const QString& setting, bool initially);

    Document* m_document;
    QAction* m_backgroundEvaluation = nullptr;
};

}  // namespace quantloupe::ui
