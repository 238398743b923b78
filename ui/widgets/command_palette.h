// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command palette: finds any command by a few letters of its name.

#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QPointer>

namespace quantloupe::ui {

class CommandPalette : public QDialog {
    Q_OBJECT
  public:
    /// The property "menuPath" of an action contains its position in the menus.
    explicit CommandPalette(const QList<QAction*>& actions, QWidget* parent = nullptr);
    void showOver(const QWidget* window);
    QLineEdit* line() const { return m_line; }
    QListWidget* list() const { return m_list; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void filter(const QString& text);
    void run();

    QList<QPointer<QAction>> m_actions;  ///< null: deleted while the palette is open
    QLineEdit* m_line;
    QListWidget* m_list;
};

/// Scores how well a text matches the typed letters: all letters in order, higher if they start words or are
/// adjacent; below 0: no match.
int fuzzyScore(const QString& typed, const QString& text);
/// Returns the text of an action without mnemonics, dots and the key after a tab.
QString actionName(const QAction& action);

}  // namespace quantloupe::ui
