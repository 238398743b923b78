// SPDX-License-Identifier: Apache-2.0
#pragma once
// A list of all commands with their shortcuts, which the user can change.

#include <QAction>
#include <QDialog>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>

#include "commands/shortcut_keys.h"

namespace quantloupe::ui {

class ShortcutSheet : public QDialog {
    Q_OBJECT
  public:
    /// `keys` must outlive this object and contain the actions.
    ShortcutSheet(const QList<QAction*>& actions, ShortcutKeys* keys, QWidget* parent = nullptr);

  Q_SIGNALS:
    void keysChanged();

  private:
    void fill(const QList<QAction*>& actions);
    QTreeWidgetItem* addRow(const QString& group, const QString& name, const QString& keys, QAction* action);
    QAction* chosen() const;
    void showChosen();
    void considerKeys();
    void refresh();
    void filter(const QString& text);

    ShortcutKeys* m_keys;
    QLineEdit* m_filter;
    QTreeWidget* m_tree;
    QKeySequenceEdit* m_editor;
    QPushButton *m_assign, *m_clear, *m_default, *m_reset;
    QLabel* m_remark;
};

}  // namespace quantloupe::ui
