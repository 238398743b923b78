// SPDX-License-Identifier: Apache-2.0
#pragma once
// Draws the cells of the block matrix: the color and the number of the metric, an outline for layers that
// differ from most, and a ring around selected layers.

#include <QStyledItemDelegate>

namespace quantloupe::ui {

class BlockDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
};

}  // namespace quantloupe::ui
