// SPDX-License-Identifier: Apache-2.0
#pragma once
// The views of the layer table: choose one, save the current one, remove one. Used by the table's button and
// in the View menu, so that the command palette finds them, too.

#include <QMenu>

#include "models/layer_views.h"

namespace quantloupe::ui {

class LayerTable;

class LayerViewMenu : public QMenu {
    Q_OBJECT
  public:
    explicit LayerViewMenu(LayerTable* table);
    /// Reads what is saved, which another window may have changed, and marks the view that is shown.
    void refresh();
    /// Asks for a name.
    void save();

  Q_SIGNALS:
    void chosen();
    /// The name cannot be used, in words.
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
