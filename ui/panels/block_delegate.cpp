// SPDX-License-Identifier: Apache-2.0
#include "panels/block_delegate.h"

#include <QPainter>

#include "panels/block_table_model.h"
#include "style/theme.h"

namespace quantloupe::ui {

void BlockDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
    if (!(index.flags() & Qt::ItemIsEnabled)) return;  // the block has no such layer
    const Theme& colors = themeOf(option.palette);
    const int unit = option.fontMetrics.height();
    const double radius = unit * 0.2;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool selected = option.state & QStyle::State_Selected;
    if (selected || option.state & QStyle::State_MouseOver) {
        painter->setPen(selected ? QPen(colors.accent, 2) : QPen(colors.edge, 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(QRectF(option.rect).adjusted(1, 1, -1, -1), radius * 1.5, radius * 1.5);
    }
    const QRectF cell = QRectF(option.rect).adjusted(3.5, 3.5, -3.5, -3.5);
    const QVariant heat = index.data(BlockTableModel::ColorRole);
    const bool stale = index.data(BlockTableModel::StaleRole).toBool();
    QColor fill = heat.isValid() ? heat.value<QColor>() : colors.soft;
    if (stale) fill = blended(fill, colors.panel, 0.5);
    QPen outline(heat.isValid() ? fill : colors.border, 1);
    const auto mark = static_cast<BlockTableModel::Mark>(index.data(BlockTableModel::MarkRole).toInt());
    if (mark != BlockTableModel::NoMark) outline = QPen(colors.inFloat, 2);
    if (mark == BlockTableModel::InFloat) outline.setDashPattern({2, 1.5});
    painter->setPen(outline);
    painter->setBrush(fill);
    painter->drawRoundedRect(cell, radius, radius);

    painter->setFont(scaledFont(numberFont(option.font), 0.9));
    painter->setPen(textColorOn(fill));
    painter->drawText(
        cell, Qt::AlignCenter,
        QFontMetrics(painter->font())
            .elidedText(index.data().toString(), Qt::ElideRight, static_cast<int>(cell.width())));
    painter->restore();
}

}  // namespace quantloupe::ui
