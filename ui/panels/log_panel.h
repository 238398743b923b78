// SPDX-License-Identifier: Apache-2.0
#pragma once
// The log of evaluations and exports, with the equivalent command line of each.

#include <QLineEdit>
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
    void showCommand();
    void copyCommand();
    Document* m_document;
    EvaluationLog* m_log;
    QTableView* m_view;
    QWidget* m_head;
    QPushButton* m_copy;
    QLineEdit* m_command;
};

}  // namespace quantloupe::ui
