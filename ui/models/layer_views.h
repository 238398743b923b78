// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the layer table shows, under a name: a filter, the order of the rows, and the columns. Saved ones are the user's and serve
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
    std::optional<QList<int>> hidden = std::nullopt;  ///< columns that are not shown; nothing: they stay as they are

    /// Whether both show the same; a view that leaves the columns alone fits any.
    bool shows(const LayerView& present) const;
};

/// Those that everybody has; their names are translated.
QList<LayerView> builtInViews();
/// The user's, in the order in which they were saved. An entry of the settings that cannot be read is passed over and stays there.
QList<LayerView> savedViews();
/// Adds it; one of the same name is replaced.
void saveView(const LayerView& view);
void removeView(const QString& name);

}  // namespace quantloupe::ui
