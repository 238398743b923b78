// SPDX-License-Identifier: Apache-2.0
#include "panels/message_bar.h"

#include <QCursor>
#include <QEvent>
#include <QHBoxLayout>
#include <QStyle>
#include <utility>

#include "base/short_text.h"
#include "style/icons.h"
#include "style/theme.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

namespace {
constexpr int kFoldedLines = 2;
}  // namespace

MessageBar::MessageBar(QWidget* parent) : QFrame(parent) {
    auto* row = new QHBoxLayout(this);
    const int unit = fontMetrics().height();
    row->setContentsMargins(unit, unit / 3, unit / 2, unit / 3);
    m_mark = new QLabel;
    m_text = new QLabel;
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_close = new QToolButton;
    m_close->setToolTip(tr("Dismiss"));
    m_close->setAccessibleName(tr("Dismiss the message"));
    row->addWidget(m_mark, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    m_more = makeLink();
    m_more->setCursor(Qt::PointingHandCursor);
    row->addWidget(m_more, 0, Qt::AlignTop);
    m_accept = new QPushButton;
    m_decline = new QPushButton;
    for (QPushButton* choice : {m_accept, m_decline}) {
        choice->hide();
        row->addWidget(choice, 0, Qt::AlignVCenter);
    }
    connect(m_accept, &QPushButton::clicked, this, [this] { choose(m_accepted); });
    connect(m_decline, &QPushButton::clicked, this, [this] { choose(m_declined); });
    row->addWidget(m_close, 0, Qt::AlignTop);
    connect(m_more, &QPushButton::clicked, this, [this] { showText(true); });
    connect(m_close, &QToolButton::clicked, this, &MessageBar::dismiss);
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, [this] {
        // Dismissing the message moves the widgets below up, so it waits until the pointer stops.
        const QPoint pointer = QCursor::pos();
        if (std::exchange(m_pointer, pointer) == pointer)
            dismiss();
        else
            m_timer.start(m_still);
    });
    updateIcon();
    hide();
}

void MessageBar::offer(const QString& text, const QString& accept, std::function<void()> accepted,
                       const QString& decline, std::function<void()> declined) {
    show(MessageKind::Note, text);
    m_timer.stop();
    m_accepted = std::move(accepted);
    m_declined = std::move(declined);
    m_accept->setText(accept);
    m_decline->setText(decline);
    m_accept->show();
    m_decline->show();
}

void MessageBar::choose(const std::function<void()>& chosen) {
    const std::function<void()> run = chosen;  // dismiss() clears the original
    dismiss();
    if (run) run();
}

void MessageBar::withdrawOffer() {
    m_accept->hide();
    m_decline->hide();
    m_accepted = m_declined = nullptr;
}

void MessageBar::show(MessageKind kind, const QString& text) {
    withdrawOffer();
    m_kind = kind;
    m_shown = ++m_count;
    m_full = sentence(QString::fromStdString(shortMessage(text.toStdString())));
    showText(false);
    setObjectName(kind == MessageKind::Error ? QStringLiteral("messageError")
                                             : QStringLiteral("messageNote"));
    style()->unpolish(this);
    style()->polish(this);
    updateIcon();
    m_pointer = QCursor::pos();
    if (kind == MessageKind::Note && m_more->isHidden() && !m_keepsNotes)
        m_timer.start(m_note);
    else
        m_timer.stop();
    QFrame::show();
}

void MessageBar::dismiss() {
    m_timer.stop();
    withdrawOffer();
    hide();
    m_text->clear();
    m_full.clear();
    m_shown = 0;
}

/// Shows the message; a long one is cut to two lines unless `all` is set.
void MessageBar::showText(bool all) {
    const QStringList lines = m_full.split(QLatin1Char('\n'));
    const auto hidden = lines.size() - kFoldedLines;
    const bool fold = !all && hidden > 1;
    m_text->setText(fold ? QStringList(lines.mid(0, kFoldedLines)).join(QLatin1Char('\n')) : m_full);
    m_more->setText(tr("%1 more").arg(hidden));
    m_more->setVisible(fold);
}

void MessageBar::updateIcon() {
    const Theme& colors = themeOf(palette());
    m_close->setIcon(icon(Symbol::Dismiss, colors.muted));
    m_mark->setText(m_kind == MessageKind::Error ? QStringLiteral("\u26a0") : QStringLiteral("\u2139"));
    setRole(m_mark, m_kind == MessageKind::Error ? "bad" : "muted");
}

void MessageBar::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) updateIcon();
    QFrame::changeEvent(event);
}

}  // namespace quantloupe::ui
