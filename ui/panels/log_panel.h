// SPDX-License-Identifier: Apache-2.0
#pragma once
// The log of evaluations; each row can be copied as a command line.

#include <QPushButton>
#include <QTableView>

#include "models/evaluation_log.h"

namespace quantloupe::ui {

class LogPanel : public QWidget {
    Q_OBJECT
  public:
    explicit LogPanel(Document* document, QWidget* parent = nullptr);
    QTableView* view() const { return m_view; }
    EvaluationLog* log() const { return m_log; }
    /// A row of buttons, for the row above the table.
    QWidget* head() const { return m_head; }

  private:
    void copyCommand();
    Document* m_document;
    EvaluationLog* m_log;
    QTableView* m_view;
    QWidget* m_head;
    QPushButton* m_copy;
};

}  // namespace quantloupe::ui
