// SPDX-License-Identifier: Apache-2.0
#pragma once
// A dismissible line below the summary bar for errors and notes. Notes disappear after a while, as soon as
// the pointer does not move; errors stay.

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QTimer>
#include <QToolButton>
#include <functional>

#include "document/document.h"

namespace quantloupe::ui {

class MessageBar : public QFrame {
    Q_OBJECT
  public:
    explicit MessageBar(QWidget* parent = nullptr);
    void show(MessageKind kind, const QString& text);
    /// A persistent note with two choices; each of them dismisses it first.
    void offer(const QString& text, const QString& accept, std::function<void()> accepted,
               const QString& decline, std::function<void()> declined);
    QPushButton* acceptButton() const { return m_accept; }
    QPushButton* declineButton() const { return m_decline; }
    void dismiss();
    /// Identifies the shown message; 0 if there is none.
    int shownMessage() const { return m_shown; }
    /// Dismisses the message unless another one has replaced it.
    void dismissMessage(int message) {
        if (message != 0 && message == m_shown) dismiss();
    }
    /// Notes stay until the next message instead of disappearing after some seconds.
    void keepNotes() { m_keepsNotes = true; }
    /// How long a note is shown at least, and how long the pointer must not have moved before it disappears.
    /// In milliseconds.
    void setDelays(int note, int still) { m_note = note, m_still = still; }
    /// The whole text, including collapsed messages.
    QString text() const { return m_full; }
    MessageKind kind() const { return m_kind; }

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void choose(const std::function<void()>& chosen);
    void withdrawOffer();
    void updateIcon();
    void showText(bool all);
    QLabel* m_mark;
    QLabel* m_text;
    QPushButton* m_more;
    QPushButton *m_accept, *m_decline;
    std::function<void()> m_accepted, m_declined;
    QToolButton* m_close;
    QString m_full;
    QTimer m_timer;
    QPoint m_pointer;  ///< when the timer was started last
    bool m_keepsNotes = false;
    int m_note = 8000, m_still = 2000;  ///< milliseconds
    MessageKind m_kind = MessageKind::Note;
    int m_shown = 0, m_count = 0;
};

}  // namespace quantloupe::ui
