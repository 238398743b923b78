// SPDX-License-Identifier: Apache-2.0
#include "widgets/merged_selection.h"

#include <algorithm>
#include <utility>

namespace quantloupe::ui {

QItemSelection mergedSelection(QModelIndexList cells) {
    cells.removeIf([](const QModelIndex& cell) { return !cell.isValid(); });
    std::ranges::sort(cells, {},
                      [](const QModelIndex& cell) { return std::pair(cell.column(), cell.row()); });
    QItemSelection selection;
    for (qsizetype first = 0, last = 0; first < cells.size(); first = last + 1) {
        last = first;
        while (last + 1 < cells.size() && cells[last + 1].column() == cells[first].column() &&
               cells[last + 1].row() <= cells[last].row() + 1)
            ++last;
        selection.select(cells[first], cells[last]);
    }
    return selection;
}

}  // namespace quantloupe::ui
