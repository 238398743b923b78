// SPDX-License-Identifier: Apache-2.0
#include "widgets/step_head.h"

#include <QKeyEvent>
#include <QPainter>

#include "style/theme.h"

namespace quantloupe::ui {

StepHead::StepHead(int number, const QString& title, QWidget* parent)
    : QAbstractButton(parent), m_number(number), m_title(title) {
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setState(false, false, {}, {});
}

void StepHead::setState(bool done, bool present, const QString& remark, std::optional<bool> good) {
    m_done = done;
    m_present = present;
    m_remark = remark;
    m_good = good;
    const QString name = tr("Step %1: %2").arg(m_number).arg(m_title);
    const QString state = done ? tr("done") : present ? tr("next step") : QString();
    setAccessibleName(state.isEmpty() ? name : tr("%1, %2").arg(name, state));
    updateGeometry();
    update();
}

QSize StepHead::sizeHint() const {
    const int unit = fontMetrics().height();
    return {unit * 3 + fontMetrics().horizontalAdvance(m_title) + fontMetrics().horizontalAdvance(m_remark),
            qRound(unit * 1.7)};
}

QSize StepHead::minimumSizeHint() const {
    const int unit = fontMetrics().height();
    return {unit * 8, qRound(unit * 1.7)};
}

void StepHead::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double unit = fontMetrics().height(), radius = unit * 0.62;
    const QPointF center(radius + 1, height() / 2.0);
    const QColor mark = m_done ? colors.quantized : m_present ? colors.accent : colors.edge;
    const bool filled = m_done || m_present;
    painter.setPen(QPen(mark, 1.3));
    painter.setBrush(filled ? QBrush(mark) : QBrush(Qt::NoBrush));
    painter.drawEllipse(center, radius, radius);
    if (m_done) {
        painter.setPen(QPen(colors.panel, unit * 0.12, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawPolyline(QPolygonF{center + QPointF(-radius * 0.45, 0),
                                       center + QPointF(-radius * 0.1, radius * 0.38),
                                       center + QPointF(radius * 0.48, -radius * 0.38)});
    } else {
        painter.setPen(filled ? colors.accentText : colors.muted);
        painter.setFont(scaledFont(font(), 0.85, QFont::DemiBold));
        painter.drawText(QRectF(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius),
                         Qt::AlignCenter, QString::number(m_number));
    }
    const double left = 2 * radius + unit * 0.6;
    const int remarkWidth = fontMetrics().horizontalAdvance(m_remark);
    painter.setFont(font());
    painter.setPen(!m_good ? colors.muted : *m_good ? colors.good : colors.error);
    painter.drawText(QRectF(0, 0, width() - 1, height()), Qt::AlignRight | Qt::AlignVCenter, m_remark);
    painter.setFont(m_present ? scaledFont(font(), 1, QFont::DemiBold) : font());
    painter.setPen(m_present || m_done || underMouse() ? colors.text : colors.muted);
    const int room = qMax(0, width() - qRound(left) - remarkWidth - qRound(unit * 0.5));
    const QString title = painter.fontMetrics().elidedText(m_title, Qt::ElideRight, room);
    painter.drawText(QRectF(left, 0, room, height()), Qt::AlignLeft | Qt::AlignVCenter, title);
    if (!hasFocus()) return;
    painter.setPen(QPen(colors.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
}

/// A button only reacts to Space.
void StepHead::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        click();
    else
        QAbstractButton::keyPressEvent(event);
}

}  // namespace quantloupe::ui
