// SPDX-License-Identifier: Apache-2.0
#pragma once
// Verifies the exported model in ONNX Runtime: compares its accuracy with the accuracy of the preview on the
// same samples. Does not block the window.

#include <QDialog>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>

#include "dialogs/python_field.h"
#include "document/document.h"
#include "jobs/verify_job.h"

namespace quantloupe::ui {

class VerifyDialog : public QDialog {
    Q_OBJECT
  public:
    explicit VerifyDialog(Document& document, QWidget* parent = nullptr);

    void start();
    VerifyJob* job() { return &m_job; }

  private:
    void present(const Verification& result);
    void presentFailure(const QString& text);
    /// Makes the window high enough for its texts, if the screen is.
    void growToFit();
    /// Shows what the two numbers are, for example "mAP"; empty before the first run.
    void showHeadings(const QString& metric, const QString& runtime);
    void showVerdict(const QString& text, const char* role);
    void idle();
    void markStale();

    Document& m_document;
    VerifyJob m_job;
    QuantizationConfig m_config;    ///< configuration of the last run
    QLabel *m_preview, *m_runtime;  ///< headings of the numbers
    QLabel *m_here, *m_there, *m_verdict, *m_details;
    QScrollArea* m_scrolled;  ///< contains the details
    QLabel* m_stage;
    PythonField* m_python;
    QPushButton* m_run;
    QProgressBar* m_progress;
    bool m_answered = false, m_otherData = false;  ///< since the run
};

}  // namespace quantloupe::ui
