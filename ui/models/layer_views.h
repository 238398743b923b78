// SPDX-License-Identifier: Apache-2.0
#pragma once
// Named views of the layer table: a filter, the sort order, and the columns. Views saved by the user apply to
// every model.

#include <QList>
#include <QString>
#include <optional>

#include "models/layer_table_model.h"

namespace quantloupe::ui {

struct LayerView {
    QString name, filter;
    int column = LayerTableModel::Number;  ///< column by which the rows are sorted
    Qt::SortOrder order = Qt::AscendingOrder;
    /// hidden columns; empty: the columns are not changed
    std::optional<QList<int>> hidden = std::nullopt;
    bool all = false;  ///< also layers that cannot be quantized

    /// Returns whether both views show the same. A view that does not change the columns matches any columns.
    bool shows(const LayerView& present) const;
};

/// The built-in views; their names are translated.
QList<LayerView> builtInViews();
/// The user's views, in the order in which they were saved. Invalid entries in the settings are ignored, but
/// kept.
QList<LayerView> savedViews();
/// Adds the view; replaces a view with the same name.
void saveView(const LayerView& view);
void removeView(const QString& name);

}  // namespace quantloupe::ui
