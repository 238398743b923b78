// SPDX-License-Identifier: Apache-2.0
#include "style/visible_indicators.h"

#include <QPainter>
#include <QStyleFactory>
#include <QStyleOption>

#include "style/theme.h"

namespace quantloupe::ui {

VisibleIndicators::VisibleIndicators() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

void VisibleIndicators::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                                      const QWidget* widget) const {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    const bool round = element == PE_IndicatorRadioButton;
    if (element != PE_IndicatorCheckBox && element != PE_IndicatorItemViewItemCheck && !round) return;
    const Theme& colors = themeOf(option->palette);
    if (!colors.dark) return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing, round);
    painter->setPen(colors.faint);
    painter->setBrush(Qt::NoBrush);
    const QRectF rect = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
    round ? painter->drawEllipse(rect) : painter->drawRect(rect);
    painter->restore();
}

}  // namespace quantloupe::ui
