// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the user's own metric program (analysis/user_metric.h) on the outputs of the float and the quantized
// network, once or in every evaluation. Shows the command first; nothing runs before the user confirms.

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "document/document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class MetricProgramDialog : public QDialog {
    Q_OBJECT
  public:
    explicit MetricProgramDialog(Document& document, QWidget* parent = nullptr);

  private:
    MetricProgram program() const;
    void refresh();
    void showResult();
    void finish(const QString& result);
    void run();
    void useInEvaluations(bool on);

    Document& m_document;
    QLineEdit *m_program, *m_arguments;
    QLabel *m_command, *m_result;
    ToggleSwitch *m_lower, *m_always;
    QPushButton* m_run;
    bool m_running = false, m_measured = false;
    bool m_needsData = false;  ///< the result says so
};

}  // namespace quantloupe::ui
