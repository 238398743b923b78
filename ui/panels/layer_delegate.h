// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cells of the layer table: a swatch before the state, a bar behind a metric.

#include <QFontMetrics>
#include <QStyledItemDelegate>

namespace quantloupe::ui {

/// The name's end, which tells layers apart: from the first part between slashes that fits into `width`
/// pixels; where the last part alone is too long, its end.
QString shortenedName(const QString& name, const QFontMetrics& metrics, int width);

class LayerDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace quantloupe::ui
