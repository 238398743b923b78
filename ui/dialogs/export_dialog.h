// SPDX-License-Identifier: Apache-2.0
#pragma once
// Preview of an export for another tool: what the export changes, what the format does not support, and the
// text of the file.

#include <QDialog>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>

#include "dialogs/exports.h"

namespace quantloupe::ui {

class ExportDialog : public QDialog {
    Q_OBJECT
  public:
    /// `info` describes an export format. `output` is the default output file, whose name appears in exported
    /// scripts.
    ExportDialog(Document& document, const ExportInfo& info, const std::filesystem::path& output,
                 QWidget* parent = nullptr);
    ~ExportDialog() override;  ///< cancels the preview

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void present(const ExportPreview& preview);
    void fitTexts();
    /// Applies the changes to the document's configuration, so that the preview shows what the tool computes.
    void apply();

    Document& m_document;
    QuantizationConfig m_config;  ///< that is exported

    QLabel* m_limits;
    QLabel* m_notices;
    QLabel* m_changes;
    QScrollArea* m_texts;  ///< with all labels
    QPlainTextEdit* m_text;
    QPushButton *m_save, *m_copy, *m_apply;
    QPointer<EvaluationJob> m_job;
    CancelToken m_token;
    std::shared_ptr<ExportPreview> m_result;  ///< filled by the engine's thread before it reports
};

}  // namespace quantloupe::ui
