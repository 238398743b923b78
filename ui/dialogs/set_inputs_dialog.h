// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the model with other shapes of its inputs, or with constants instead of inputs (model/set_inputs.h).

#include <QDialog>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>

#include "document/document.h"
#include "model/set_inputs.h"

namespace quantloupe::ui {

class SetInputsDialog : public QDialog {
    Q_OBJECT
  public:
    explicit SetInputsDialog(Document& document, QWidget* parent = nullptr);

    /// The changes that the table contains.
    InputChanges changes() const;
    /// Writes the model. The dialog is accepted once it is written; if that fails, it says why.
    void write(const std::filesystem::path& path);
    const std::filesystem::path& written() const { return m_written; }
    void reject() override;

  Q_SIGNALS:
    /// The user has made changes and wants to choose a file.
    void saveRequested();

  private:
    void fill();

    Document& m_document;
    GraphPtr m_graph;  ///< whose inputs are in the table
    std::filesystem::path m_path;
    CancelToken m_writing;
    QTableWidget* m_table;
    QLabel* m_status;
    QPushButton* m_save;
    std::filesystem::path m_written;
};

}  // namespace quantloupe::ui
