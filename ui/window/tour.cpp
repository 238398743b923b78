// SPDX-License-Identifier: Apache-2.0
#include "window/tour.h"

#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "style/theme.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

Tour::Tour(QWidget* window) : QWidget(window) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
    const int unit = fontMetrics().height();
    m_bubble = new QFrame(window);  // not a child of the tour, because it must receive mouse events
    m_bubble->setObjectName(QStringLiteral("overlay"));
    m_bubble->setFixedWidth(unit * 23);
    m_bubble->setAccessibleName(tr("Tour"));
    auto* column = new QVBoxLayout(m_bubble);
    column->setContentsMargins(unit, unit * 3 / 4, unit, unit * 3 / 4);
    column->setSpacing(unit / 2);
    m_title = makeLabel({}, "", 1.1, QFont::DemiBold);
    m_text = makeLabel({}, "");
    m_text->setWordWrap(true);
    m_count = makeLabel({}, "muted", 0.9);
    m_skip = makeLink(tr("Skip Tour"));
    m_back = new QPushButton(tr("Back"));
    m_next = new QPushButton;
    m_next->setProperty("primary", true);
    auto* row = new QHBoxLayout;
    row->addWidget(m_count);
    row->addStretch(1);
    row->addWidget(m_skip);
    row->addWidget(m_back);
    row->addWidget(m_next);
    column->addWidget(m_title);
    column->addWidget(m_text);
    column->addLayout(row);
    m_bubble->hide();
    connect(m_skip, &QPushButton::clicked, this, &Tour::stop);
    connect(m_back, &QPushButton::clicked, this, [this] { go(m_step - 1); });
    connect(m_next, &QPushButton::clicked, this, [this] { go(m_step + 1); });
    window->installEventFilter(this);
    for (QPushButton* button : {m_skip, m_back, m_next}) button->installEventFilter(this);
}

void Tour::start(std::vector<TourStep> steps) {
    m_steps = std::move(steps);
    go(0);
}

void Tour::stop() {
    hide();
    m_bubble->hide();
}

void Tour::go(int step) {
    if (step >= static_cast<int>(m_steps.size())) return stop();
    m_step = std::max(step, 0);
    const TourStep& shown = m_steps[static_cast<std::size_t>(m_step)];
    if (shown.prepare) shown.prepare();
    m_title->setText(shown.title);
    m_text->setText(shown.text);
    m_count->setText(tr("%1 of %2").arg(m_step + 1).arg(m_steps.size()));
    m_back->setEnabled(m_step > 0);
    const bool last = m_step + 1 == static_cast<int>(m_steps.size());
    m_next->setText(last ? tr("Finish") : tr("Next"));
    m_skip->setVisible(!last);
    for (QWidget* part : {static_cast<QWidget*>(this), static_cast<QWidget*>(m_bubble)}) {
        part->show();
        part->raise();
    }
    place();
    m_next->setFocus();
}

QRect Tour::targetRect() const {
    const QWidget* target = m_steps[static_cast<std::size_t>(m_step)].target;
    const int gap = fontMetrics().height() / 4;
    return QRect(target->mapTo(parentWidget(), QPoint()), target->size())
        .adjusted(-gap, -gap, gap, gap)
        .intersected(rect());
}

/// Places the bubble on the side of the target with the most space, or inside the target if it fills the
/// window.
void Tour::place() {
    if (m_steps.empty()) return;
    setGeometry(parentWidget()->rect());
    const QMargins margins = m_bubble->layout()->contentsMargins();
    m_bubble->ensurePolished();  // the style sheet adds a border
    m_text->setFixedHeight(
        m_text->heightForWidth(m_bubble->contentsRect().width() - margins.left() - margins.right()));
    m_bubble->layout()->invalidate();
    m_bubble->setFixedHeight(m_bubble->layout()->sizeHint().height());
    const QSize size = m_bubble->size();
    const QRect target = targetRect(), all = rect();
    const int gap = fontMetrics().height();
    QPoint at = target.center() - QPoint(size.width() / 2, size.height() / 2);
    if (all.bottom() - target.bottom() > size.height() + gap)
        at.setY(target.bottom() + gap);
    else if (target.top() - all.top() > size.height() + gap)
        at.setY(target.top() - gap - size.height());
    else if (all.right() - target.right() > size.width() + gap)
        at.setX(target.right() + gap);
    else if (target.left() - all.left() > size.width() + gap)
        at.setX(target.left() - gap - size.width());
    at.setX(std::clamp(at.x(), gap, std::max(gap, all.width() - size.width() - gap)));
    at.setY(std::clamp(at.y(), gap, std::max(gap, all.height() - size.height() - gap)));
    m_bubble->move(at);
    update();
}

/// Enter presses the button that has the focus, and Tab stays in the tour.
bool Tour::pressKey(QPushButton* pressed, int key) {
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
        pressed->click();
        return true;
    }
    if (key != Qt::Key_Tab && key != Qt::Key_Backtab) return false;
    QList<QPushButton*> buttons{m_skip, m_back, m_next};
    buttons.removeIf([](const QPushButton* button) { return button->isHidden() || !button->isEnabled(); });
    const auto step = key == Qt::Key_Tab ? 1 : buttons.size() - 1;
    buttons[(buttons.indexOf(pressed) + step) % buttons.size()]->setFocus(Qt::TabFocusReason);
    return true;
}

bool Tour::eventFilter(QObject* watched, QEvent* event) {
    if (auto* button = qobject_cast<QPushButton*>(watched); button && event->type() == QEvent::KeyPress)
        return pressKey(button, static_cast<QKeyEvent*>(event)->key());
    const bool moved = event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest;
    if (running() && moved) QMetaObject::invokeMethod(this, &Tour::place, Qt::QueuedConnection);
    return QWidget::eventFilter(watched, event);
}

void Tour::paintEvent(QPaintEvent*) {
    if (m_steps.empty()) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPainterPath shade, hole;
    shade.addRect(rect());
    hole.addRoundedRect(targetRect(), 6, 6);
    painter.fillPath(shade.subtracted(hole), QColor(0, 0, 0, 90));
    painter.setPen(QPen(themeOf(palette()).accent, 2));
    painter.drawPath(hole);
}

}  // namespace quantloupe::ui
