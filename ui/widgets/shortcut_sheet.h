// SPDX-License-Identifier: Apache-2.0
#pragma once
// All keys on one sheet.

#include <QAction>
#include <QDialog>

namespace quantloupe::ui {

class ShortcutSheet : public QDialog {
    Q_OBJECT
  public:
    explicit ShortcutSheet(const QList<QAction*>& actions, QWidget* parent = nullptr);
};

}  // namespace quantloupe::ui
