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
    int column = LayerTableModel::Number;  ///< that the rows are sorted by
    Qt::SortOrder order = Qt::AscendingOrder;
    /// hidden columns; nothing: the columns are not changed
    std::optional<QList<int>> hidden = std::nullopt;
    bool all = false;  ///< also layers that cannot be quantized

    /// Whether both show the same; a view that leaves the columns alone fits any.
    bool shows(const LayerView& present) const;
};

/// The built-in views; their names are translated.
QList<LayerView> builtInViews();
/// The user's, in the order in which they were saved. An entry of the settings that cannot be read is ignored
/// and kept.
QList<LayerView> savedViews();
/// Adds the view; replaces a view of the same name.
void saveView(const LayerView& view);
void removeView(const QString& name);

}  // namespace quantloupe::ui
