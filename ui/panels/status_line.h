// SPDX-License-Identifier: Apache-2.0
#pragma once
// The status line: the running work (after 150 ms), the waiting work, the remaining time, buttons to pause
// and cancel (after 1 s), and the duration of the last evaluation.

#include <QElapsedTimer>
#include <QFrame>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>

#include "document/document.h"
#include "jobs/time_left.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

/// "an export, 2 queries": the waiting work. Empty if there is none.
QString waitingWords(const std::vector<QueuedWork>& queue);

class StatusLine : public QFrame {
    Q_OBJECT
  public:
    explicit StatusLine(Document* document, QWidget* parent = nullptr);
    QString text() const { return m_text->fullText(); }
    QString rightText() const { return m_right->fullText(); }
    /// Omits what differs between two runs of the same evaluation: its duration and the number of threads.
    void setReproducible() { m_reproducible = true; }

  private:
    void build();
    void setBusy(bool busy);
    void queueChanged();
    void progressed(const QString& stage, std::size_t done, std::size_t total);
    void finished(double seconds);
    void refresh();
    QString runningText();
    QString idleText() const;
    double now() const;

    Document* m_document;
    QProgressBar* m_bar;
    ElidedLabel *m_text, *m_right;
    QPushButton *m_cancel, *m_pause, *m_pauseAside;
    QString m_measured;  ///< duration of the last evaluation
    QString m_stage;     ///< stage of the running work; empty: none reported yet
    std::size_t m_done = 0, m_total = 0;
    std::optional<QueuedWork> m_running;
    TimeLeft m_left;
    QElapsedTimer m_clock;
    QTimer m_showBar, m_showCancel, m_showQuery, m_tick;
    bool m_busy = false, m_barShown = false, m_cancelShown = false, m_queryShown = false,
         m_reproducible = false;
};

}  // namespace quantloupe::ui
