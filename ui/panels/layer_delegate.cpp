// SPDX-License-Identifier: Apache-2.0
#include "panels/layer_delegate.h"

#include <QPainter>
#include <QPainterPath>

#include "models/layer_table_model.h"
#include "style/elided_name.h"
#include "style/theme.h"

namespace quantloupe::ui {

void LayerDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
    const Theme& colors = themeOf(option.palette);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (option.state & QStyle::State_Selected)
        painter->fillRect(option.rect, colors.accentSoft);
    else if (option.state & QStyle::State_MouseOver)
        painter->fillRect(option.rect, colors.soft);

    const int unit = option.fontMetrics.height();
    QRectF rect = QRectF(option.rect).adjusted(unit * 0.4, 0, -unit * 0.4, 0);
    const auto state = static_cast<LayerState>(index.data(LayerTableModel::StateRole).toInt());
    const int column = index.column();
    QColor text = column == LayerTableModel::Name ? colors.text : colors.muted;

    if (column == LayerTableModel::State) {
        QRectF swatch(rect.left(), rect.center().y() - unit * 0.3, unit * 0.6, unit * 0.6);
        const QColor color = state == LayerState::Quantized                               ? colors.quantized
                             : state == LayerState::Skipped || state == LayerState::Float ? colors.inFloat
                                                                                          : colors.folded;
        QPen pen(color, 1.4);
        painter->setBrush(Qt::NoBrush);
        if (state == LayerState::Skipped)
            pen.setDashPattern({2, 1.5});
        else if (state != LayerState::Folded && state != LayerState::Fused)
            painter->setBrush(color);
        painter->setPen(pen);
        painter->drawRoundedRect(swatch, 2.5, 2.5);
        rect.setLeft(swatch.right() + unit * 0.45);
        text = colors.text;
    }
    const QVariant heat = index.data(LayerTableModel::HeatRole);
    const bool bar = column == LayerTableModel::LocalQs || column == LayerTableModel::WeightQs ||
                     column == LayerTableModel::CumulativeQs || column == LayerTableModel::LeaveOneOut ||
                     column == LayerTableModel::Sqnr;
    if (bar) {
        const double width = unit * 1.7;
        if (heat.isValid()) {
            const QRectF track(rect.right() - width, rect.center().y() - unit * 0.18, width, unit * 0.36);
            painter->setPen(Qt::NoPen);
            painter->setBrush(colors.hover);
            painter->drawRoundedRect(track, 2, 2);
            QColor color = heatColor(heat.toDouble(), colors.dark);
            if (index.data(LayerTableModel::StaleRole).toBool()) color.setAlpha(110);
            painter->setBrush(color);
            painter->drawRoundedRect(
                QRectF(track.topLeft(), QSizeF(std::max(2.5, width * heat.toDouble()), track.height())), 2,
                2);
            const bool own = state == LayerState::Quantized || column != LayerTableModel::LocalQs;
            text = own && !index.data(LayerTableModel::StaleRole).toBool() ? colors.text : colors.muted;
        }
        rect.setRight(rect.right() - width - unit * 0.45);
    }
    const bool number = column != LayerTableModel::Name && column != LayerTableModel::Op &&
                        column != LayerTableModel::State && column != LayerTableModel::Reason;
    QFont font = number ? numberFont(option.font) : option.font;
    if (column == LayerTableModel::Name) font.setWeight(QFont::Medium);
    painter->setFont(font);
    painter->setPen(text);
    const QFontMetrics metrics(font);
    const QString all = index.data().toString();
    const int width = static_cast<int>(rect.width());
    const QString shown = column == LayerTableModel::Name ? elidedName(all, QFontMetricsF(font), width)
                                                          : metrics.elidedText(all, Qt::ElideRight, width);
    painter->drawText(rect, index.data(Qt::TextAlignmentRole).toInt(), shown);
    painter->restore();
}

QSize LayerDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const bool number =
        index.column() >= LayerTableModel::LocalQs && index.column() < LayerTableModel::Reason;
    const QFontMetrics metrics(number ? numberFont(option.font) : option.font);
    return {metrics.horizontalAdvance(index.data().toString()) + option.fontMetrics.height(),
            qRound(option.fontMetrics.height() * 1.55)};
}

}  // namespace quantloupe::ui
