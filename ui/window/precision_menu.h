// SPDX-License-Identifier: Apache-2.0
#pragma once
// The menu of precisions for the selected layers.

#include <QAction>
#include <QMenu>
#include <optional>

#include "config/precision.h"

namespace quantloupe::ui {

class PrecisionMenu : public QMenu {
    Q_OBJECT
  public:
    explicit PrecisionMenu(QWidget* parent);
    /// Also enables or disables the keys of the commands.
    void setUsable(bool usable);

  Q_SIGNALS:
    /// `precision`: empty for the one that rules and the network determine.
    void chosen(const std::optional<quantloupe::Precision>& precision);

  private:
    void add(const QString& text, int key, const QString& tip, const std::optional<Precision>& precision);
};

}  // namespace quantloupe::ui
