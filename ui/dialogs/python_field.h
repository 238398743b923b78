// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Python that runs ONNX Runtime: one setting for all dialogs that need it.

#include <QLineEdit>
#include <QWidget>
#include <filesystem>

namespace quantloupe::ui {

class PythonField : public QWidget {
    Q_OBJECT
  public:
    explicit PythonField(QWidget* parent = nullptr);
    /// Empty: QUANTLOUPE_PYTHON, or python3 on the PATH.
    std::filesystem::path path() const { return m_line->text().trimmed().toStdString(); }
    /// The field with its label.
    static QWidget* row(PythonField* field);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QLineEdit* m_line;
};

}  // namespace quantloupe::ui
