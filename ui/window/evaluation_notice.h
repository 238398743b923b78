// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shows a desktop notification when a long evaluation finishes while no window of the application has the
// focus.

#include <QObject>
#include <QWidget>

#include "document/document.h"

namespace quantloupe::ui {

class EvaluationNotice : public QObject {
    Q_OBJECT
  public:
    EvaluationNotice(Document* document, QWidget* window);
    /// Evaluations of at least this many seconds are long.
    void setLongSeconds(double seconds) { m_longSeconds = seconds; }

  Q_SIGNALS:
    void notified(QString text);

  private:
    void notify(double seconds);

    Document* m_document;
    QWidget* m_window;
    double m_longSeconds = 10;
};

}  // namespace quantloupe::ui
