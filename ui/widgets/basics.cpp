// SPDX-License-Identifier: Apache-2.0
#include "widgets/basics.h"

#include <QApplication>
#include <QEnterEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QRegularExpression>
#include <QScreen>
#include <QSettings>
#include <QStyle>
#include <QWheelEvent>
#include <algorithm>

#include "style/theme.h"
#include "widgets/aligned_rows.h"

namespace quantloupe::ui {

namespace {

constexpr QChar kBreak(0x200b);  // zero-width space

}  // namespace

void resizeWithinScreen(QWidget* window, QSize wish) {
    const QSize frame(0, 2 * window->fontMetrics().height());  // the title bar
    window->resize(wish.boundedTo(window->screen()->availableSize() - frame));
}

void bringToFront(QWidget* window) {
    window->show();
    window->raise();
    window->activateWindow();
}

QLabel* makeLabel(const QString& text, const char* role, double size, QFont::Weight weight) {
    auto* label = new QLabel(text);
    label->setFont(scaledFont(QApplication::font(), size, weight));
    label->setProperty("role", QString::fromLatin1(role));
    label->setTextFormat(Qt::PlainText);
    return label;
}

QPushButton* makeLink(const QString& text, const QString& toolTip) {
    auto* button = new QPushButton(text);
    button->setProperty("link", true);
    button->setToolTip(toolTip);
    return button;
}

void setBreakableText(QLabel* label, const QString& text) {
    constexpr qsizetype kLongest = 24;  // letters without a place to break
    static const QRegularExpression kWord(QStringLiteral("[^\\s/]{%1,}").arg(kLongest));
    QString broken;
    qsizetype copied = 0;
    for (auto words = kWord.globalMatch(text); words.hasNext();) {
        const QRegularExpressionMatch word = words.next();
        broken += QStringView(text).mid(copied, word.capturedStart() - copied);
        qsizetype letters = 0;
        for (const QChar c : word.capturedView()) {
            broken += c;
            const bool separator = c == QLatin1Char('.') || c == QLatin1Char('_');
            if ((++letters < kLongest && !separator) || c.isHighSurrogate()) continue;
            broken += kBreak;
            letters = 0;
        }
        copied = word.capturedEnd();
    }
    broken += QStringView(text).mid(copied);
    // A copy of the selection would contain the invisible characters.
    constexpr const char* kFlags = "interaction";
    if (!label->property(kFlags).isValid())
        label->setProperty(kFlags, static_cast<int>(label->textInteractionFlags()));
    const auto flags = Qt::TextInteractionFlags(label->property(kFlags).toInt());
    label->setTextInteractionFlags(broken == text ? flags : flags & ~Qt::TextSelectableByMouse);
    label->setText(broken);
}

QString textOf(const QLabel* label) { return label->text().remove(kBreak); }

void setRole(QWidget* widget, const char* role) {
    const QString name = QString::fromLatin1(role);
    if (widget->property("role").toString() == name) return;
    widget->setProperty("role", name);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

QString sentence(QString text) {
    // A path, a quoted name, a key ("batch_num") or the name of a file is not changed.
    QString first = text.left(text.indexOf(QLatin1Char(' ')));
    first.chop(1);  // perhaps the end of a sentence
    const bool name = first.contains(QLatin1Char('_')) || first.contains(QLatin1Char('.'));
    if (!name && !text.isEmpty() && text.front().isLetter()) text.front() = text.front().toUpper();
    return text;
}

void clearLayout(QLayout* layout) {
    while (QLayoutItem* item = layout->takeAt(0)) {
        if (item->layout()) clearLayout(item->layout());
        if (QWidget* widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        }
        delete item;
    }
}

QWidget* makeRow(const QString& label, QWidget* control, const QString& toolTip) {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(row->fontMetrics().height() / 2);
    QLabel* name = makeLabel(label, "muted");
    name->setObjectName(kRowLabel);
    layout->addWidget(name);
    layout->addWidget(control, 1);
    row->setToolTip(toolTip);
    if (control->accessibleName().isEmpty()) control->setAccessibleName(label);
    return row;
}

SectionHeading::SectionHeading(const QString& title, QWidget* parent) : QWidget(parent) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    m_title = makeLabel({}, "heading", 0.85, QFont::Bold);
    QFont font = m_title->font();
    font.setLetterSpacing(QFont::PercentageSpacing, 104);
    m_title->setFont(font);
    m_remark = new ElidedLabel({}, Qt::ElideRight);
    m_remark->setFont(scaledFont(QApplication::font(), 0.9));
    m_remark->setProperty("role", QStringLiteral("faint"));
    m_remark->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(m_title);
    row->addWidget(m_remark, 1);
    setTitle(title);
}

void SectionHeading::setTitle(const QString& title) {
    m_title->setText(title.toUpper());
    setAccessibleName(title);
}

void SectionHeading::setRemark(const QString& text, const QString& toolTip) {
    m_remark->setFullText(text);
    if (!toolTip.isEmpty()) m_remark->setToolTip(toolTip);
}

void SectionHeading::setBody(QWidget* body, const QString& key, bool open) {
    m_body = body;
    m_key = QStringLiteral("sections/") + key;
    const int unit = fontMetrics().height();
    layout()->setContentsMargins(qRound(unit * 0.85), 0, 0, 0);  // space for the arrow
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    m_open = QSettings().value(m_key, open).toBool();
    m_body->setVisible(m_open);
}

void SectionHeading::setOpen(bool open) {
    if (!m_body || open == m_open) return;
    m_open = open;
    m_body->setVisible(open);
    QSettings().setValue(m_key, open);
    update();
}

void SectionHeading::mousePressEvent(QMouseEvent* event) {
    if (!m_body) QWidget::mousePressEvent(event);
}

void SectionHeading::mouseReleaseEvent(QMouseEvent* event) {
    if (m_body && event->button() == Qt::LeftButton && rect().contains(event->pos())) setOpen(!m_open);
}

void SectionHeading::keyPressEvent(QKeyEvent* event) {
    const bool press =
        event->key() == Qt::Key_Space || event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (m_body && press)
        setOpen(!m_open);
    else if (m_body && (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right))
        setOpen(event->key() == Qt::Key_Right);
    else
        QWidget::keyPressEvent(event);
}

void SectionHeading::paintEvent(QPaintEvent*) {
    if (!m_body) return;
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double unit = fontMetrics().height(), size = unit * 0.16;
    const QPointF center(unit * 0.3, height() / 2.0);
    QPainterPath arrow;
    if (m_open) {
        arrow.moveTo(center + QPointF(-size * 1.4, -size * 0.7));
        arrow.lineTo(center + QPointF(0, size * 0.8));
        arrow.lineTo(center + QPointF(size * 1.4, -size * 0.7));
    } else {
        arrow.moveTo(center + QPointF(-size * 0.7, -size * 1.4));
        arrow.lineTo(center + QPointF(size * 0.8, 0));
        arrow.lineTo(center + QPointF(-size * 0.7, size * 1.4));
    }
    painter.setPen(QPen(hasFocus() ? colors.accent : colors.muted, hasFocus() ? 2 : 1.5));
    painter.drawPath(arrow);
}

void SectionHeading::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}
void SectionHeading::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

QVBoxLayout* buildSection(QWidget* section, SectionHeading* heading, const QString& key, bool open) {
    const int unit = section->fontMetrics().height();
    auto* column = new QVBoxLayout(section);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit / 2);
    column->addWidget(heading);
    auto* body = new QWidget;
    auto* rows = new QVBoxLayout(body);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(unit / 3);
    column->addWidget(body);
    heading->setBody(body, key, open);
    return rows;
}

ChoiceBox::ChoiceBox(const QString& accessibleName, QWidget* parent) : QComboBox(parent) {
    setAccessibleName(accessibleName);
    setFocusPolicy(Qt::TabFocus);
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(8);
}

void ChoiceBox::addChoice(const QString& text, const QString& meaning) {
    addItem(text);
    setItemData(count() - 1, meaning, Qt::ToolTipRole);
}

void ChoiceBox::wheelEvent(QWheelEvent* event) {
    if (hasFocus())
        QComboBox::wheelEvent(event);
    else
        event->ignore();
}

ElidedLabel::ElidedLabel(const QString& text, Qt::TextElideMode mode, QWidget* parent)
    : QLabel(parent), m_mode(mode) {
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    setFullText(text);
}

void ElidedLabel::setFullText(const QString& text) {
    m_full = text;
    setText(text);  // for the accessible name; it is elided when painted
    setToolTip(text);
}

QSize ElidedLabel::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 4, fontMetrics().height()};
}
QSize ElidedLabel::sizeHint() const {
    return {fontMetrics().horizontalAdvance(m_full) + 2, fontMetrics().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(isEnabled() ? QPalette::Normal : QPalette::Disabled, foregroundRole()));
    painter.drawText(contentsRect(), static_cast<int>(alignment() | Qt::AlignVCenter),
                     fontMetrics().elidedText(m_full, m_mode, width()));
}

LinkButton::LinkButton(QWidget* parent) : QPushButton(parent) {
    setProperty("link", true);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    setMinimumWidth(1);
}

void LinkButton::setFullText(const QString& text) {
    m_full = text;
    setToolTip(text);
    setText(fontMetrics().elidedText(m_full, Qt::ElideMiddle, width() - 4));
    updateGeometry();
}

QSize LinkButton::sizeHint() const {
    const int missing = fontMetrics().horizontalAdvance(m_full) - fontMetrics().horizontalAdvance(text());
    return QPushButton::sizeHint() + QSize(std::max(0, missing) + 4, 0);
}

void LinkButton::resizeEvent(QResizeEvent* event) {
    QPushButton::resizeEvent(event);
    setText(fontMetrics().elidedText(m_full, Qt::ElideMiddle, width() - 4));
}

ToggleSwitch::ToggleSwitch(const QString& text, QWidget* parent) : QAbstractButton(parent) {
    setText(text);
    setCheckable(true);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

QSize ToggleSwitch::knob() const {
    const int height = qRound(fontMetrics().height() * 0.82) | 1;
    return {qRound(height * 1.75), height};
}

QSize ToggleSwitch::sizeHint() const {
    const int textWidth =
        text().isEmpty() ? 0 : fontMetrics().horizontalAdvance(text()) + fontMetrics().height() / 2;
    return {knob().width() + textWidth + 4, qMax(knob().height(), fontMetrics().height()) + 4};
}

void ToggleSwitch::paintEvent(QPaintEvent*) {
    const Theme& colors = themeOf(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QSize size = knob();
    const QRectF track(2, (height() - size.height()) / 2.0, size.width(), size.height());
    QColor color = isChecked() ? colors.accent : colors.edge;
    if (!isEnabled()) color = colors.border;
    if (underMouse() && isEnabled()) color = colors.dark ? color.lighter(112) : color.darker(108);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawRoundedRect(track, track.height() / 2, track.height() / 2);
    const double diameter = track.height() - 4;
    painter.setBrush(colors.dark && isChecked() ? colors.accentText
                     : colors.dark              ? colors.text
                                                : colors.panel);
    painter.drawEllipse(QRectF(isChecked() ? track.right() - diameter - 2 : track.left() + 2, track.top() + 2,
                               diameter, diameter));
    if (hasFocus()) {
        painter.setPen(QPen(colors.accent, 1.2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(track.adjusted(-1.5, -1.5, 1.5, 1.5), track.height() / 2 + 1.5,
                                track.height() / 2 + 1.5);
    }
    if (text().isEmpty()) return;
    painter.setPen(isEnabled() ? (isChecked() ? colors.text : colors.muted) : colors.faint);
    painter.drawText(QRectF(track.right() + fontMetrics().height() / 2.0, 0, width(), height()),
                     Qt::AlignLeft | Qt::AlignVCenter, text());
}

void ToggleSwitch::enterEvent(QEnterEvent*) { update(); }
void ToggleSwitch::leaveEvent(QEvent*) { update(); }

SegmentedControl::SegmentedControl(const QStringList& choices, bool even, QWidget* parent) : QWidget(parent) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    const bool numbers = std::ranges::all_of(choices, [](const QString& text) { return text.size() <= 2; });
    for (int i = 0; i < choices.size(); ++i) {
        auto* button = new QPushButton(choices[i]);
        button->setCheckable(true);
        button->setAutoExclusive(true);
        button->setProperty("segment", true);
        const char* place = i == 0 ? "first" : i == choices.size() - 1 ? "last" : "middle";
        button->setProperty("place", QString::fromLatin1(place));
        button->setCursor(Qt::PointingHandCursor);
        button->setFocusPolicy(Qt::TabFocus);
        connect(button, &QPushButton::clicked, this, [this, i] { Q_EMIT chosen(i); });
        m_buttons.append(button);
        button->setProperty("even", even);
        if (even) {  // the minimum width of the style is meant for words
            button->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
            button->setMinimumWidth(qRound(fontMetrics().height() * 1.3));
        }
        // Numbers have the same width; words get the width that they need.
        row->addWidget(button, !even ? 0
                               : numbers
                                   ? 1
                                   : fontMetrics().horizontalAdvance(choices[i]) + fontMetrics().height());
    }
}

int SegmentedControl::currentIndex() const {
    for (int i = 0; i < m_buttons.size(); ++i)
        if (m_buttons[i]->isChecked()) return i;
    return -1;
}

void SegmentedControl::setCurrentIndex(int index) {
    if (index >= 0 && index < m_buttons.size()) return m_buttons[index]->setChecked(true);
    // none: exclusive buttons cannot be unchecked otherwise
    for (QPushButton* button : std::as_const(m_buttons)) {
        button->setAutoExclusive(false);
        button->setChecked(false);
        button->setAutoExclusive(true);
    }
}

}  // namespace quantloupe::ui
