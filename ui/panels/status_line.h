// SPDX-License-Identifier: Apache-2.0
#pragma once
// The line at the bottom: what the engine does (after 150 ms), a way to stop it (after 1 s), and how long the
// last edit took.

#include <QFrame>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>

#include "document.h"

namespace quantloupe::ui {

class StatusLine : public QFrame {
    Q_OBJECT
  public:
    explicit StatusLine(Document* document, QWidget* parent = nullptr);

  private:
    void setBusy(bool busy);
    void showIdle();

    Document* m_document;
    QProgressBar* m_bar;
    QLabel *m_text, *m_right;
    QString m_measured;  ///< what the last evaluation took
    QPushButton* m_cancel;
    QTimer m_showBar, m_showCancel;
    bool m_busy = false;
};

}  // namespace quantloupe::ui
