// SPDX-License-Identifier: Apache-2.0
#pragma once
// The menu of layer table views, for choosing, saving and removing views. It is used by the table's button
// and in the View menu, so that the command palette also finds the views.

#include <QMenu>

#include "models/layer_views.h"

namespace quantloupe::ui {

class LayerTable;

class LayerViewMenu : public QMenu {
    Q_OBJECT
  public:
    explicit LayerViewMenu(LayerTable* table);
    /// Reads the saved views, which another window may have changed, and marks the current view.
    void refresh();
    /// Saves the current view under a name that the user enters.
    void save();

  Q_SIGNALS:
    void chosen();
    /// The name cannot be used, for this reason.
    void refused(QString why);

  private:
    QAction* addView(const LayerView& view, QAction* before);
    void keep(const QString& name);

    LayerTable* m_table;
    QList<std::pair<QAction*, LayerView>> m_builtIn, m_saved;
    QAction *m_saveSeparator, *m_saveAction;
    QMenu* m_remove;
};

}  // namespace quantloupe::ui
