// SPDX-License-Identifier: Apache-2.0
#pragma once
// The document's latency profiles: importing those of other tools, measuring in ONNX Runtime, and the names
// that match no layer. Does not block the window.

#include <QCheckBox>
#include <QDialog>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTableWidget>

#include "dialogs/python_field.h"
#include "document/document.h"
#include "jobs/latency_job.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class LatencyDialog : public QDialog {
    Q_OBJECT
  public:
    explicit LatencyDialog(Document& document, QWidget* parent = nullptr);

    /// Measures the current configuration.
    void measure();
    void chooseProfile();
    /// Reads the file. If it does not state the precision, the user chooses it before it is added.
    void importFrom(const std::filesystem::path& path);

    LatencyJob* job() { return &m_job; }

  private:
    QWidget* buildPending();
    void addPending();
    void refresh();
    void showStatus(const QString& text, const char* role = "muted");
    void finish();

    Document& m_document;
    LatencyJob m_job;
    std::optional<LatencySource> m_pending;  ///< read, and waiting for its precision
    QLabel *m_sum, *m_details, *m_pendingText, *m_unmatchedText, *m_status;
    QTableWidget* m_table;
    QWidget* m_pendingPart;
    ChoiceBox* m_precision;
    QPlainTextEdit* m_unmatched;
    QCheckBox* m_float;
    PythonField* m_python;
    QPushButton *m_add, *m_remove, *m_import, *m_measure;
    QProgressBar* m_progress;
    bool m_disturbed = false;  ///< an evaluation ran while measuring
};

}  // namespace quantloupe::ui
