// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the user's own metric program (analysis/user_metric.h) on the outputs of the float and the quantized
// network. Shows the command first; nothing runs before the user confirms.

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "document/document.h"

namespace quantloupe::ui {

class MetricProgramDialog : public QDialog {
    Q_OBJECT
  public:
    explicit MetricProgramDialog(Document& document, QWidget* parent = nullptr);

  private:
    void refresh();
    void finish(const QString& result);
    void run();

    Document& m_document;
    QLineEdit *m_program, *m_arguments;
    QLabel *m_command, *m_result;
    QPushButton* m_run;
    bool m_running = false, m_measured = false;
    bool m_needsData = false;  ///< the result says so
};

}  // namespace quantloupe::ui
