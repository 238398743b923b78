// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects many cells of a table at once.

#include <QItemSelection>

namespace quantloupe::ui {

/// Returns a selection of these cells of a model. Neighbors in a column are one range, because Qt needs
/// seconds for thousands of ranges. Invalid indices are ignored.
QItemSelection mergedSelection(QModelIndexList cells);

}  // namespace quantloupe::ui
