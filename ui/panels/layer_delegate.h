// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paints the cells of the layer table: states with a color swatch, metrics with a bar.

#include <QStyledItemDelegate>

namespace quantloupe::ui {

class LayerDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace quantloupe::ui
