// SPDX-License-Identifier: Apache-2.0
#include "widgets/number_field.h"

#include <QKeyEvent>
#include <QLocale>
#include <QStyle>

#include "style/theme.h"

namespace quantloupe::ui {

NumberField::NumberField(const QString& accessibleName, QWidget* parent) : QLineEdit(parent) {
    setAccessibleName(accessibleName);
    setAlignment(Qt::AlignRight);
    setFont(numberFont(font()));
    setMinimumWidth(fontMetrics().height() * 3);
    connect(this, &QLineEdit::editingFinished, this, [this] {
        if (text().trimmed() != m_value)
            Q_EMIT entered(text().trimmed());
        else
            setComplaint({});  // of a text that was corrected
    });
}

void NumberField::setValue(const QString& value, const QString& placeholder) {
    setPlaceholderText(placeholder);
    const bool typing = hasFocus() && text().trimmed() != m_value;
    if (typing && value == m_value) return;
    m_value = value;
    if (text() != value) setText(value);
    setComplaint({});
}

void NumberField::setComplaint(const QString& complaint) {
    if (complaint == m_complaint) return;
    m_complaint = complaint;
    setToolTip(complaint);
    setProperty("wrong", !complaint.isEmpty());
    style()->unpolish(this);
    style()->polish(this);
}

bool NumberField::event(QEvent* event) {
    // Otherwise, Escape would cancel the evaluation.
    if (event->type() == QEvent::ShortcutOverride &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape && text() != m_value) {
        event->accept();
        return true;
    }
    return QLineEdit::event(event);
}

void NumberField::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && text() != m_value) {
        setText(m_value);
        setComplaint({});
        event->accept();
        return;
    }
    QLineEdit::keyPressEvent(event);
}

QString numberText(double value) { return QString::number(value, 'g', QLocale::FloatingPointShortest); }

}  // namespace quantloupe::ui
