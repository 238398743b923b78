// SPDX-License-Identifier: Apache-2.0
#pragma once
// Editor for the labels of the evaluation data: task of the network, list of classes, COCO file or folder of
// label images, box decoder, output with the scores of the classes, and class names.

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "document/document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

/// Describes the settings in one line: "Detection, instances.json, yolov8"; empty if nothing is set.
QString taskInWords(const TaskSettings& task);

class TaskDialog : public QDialog {
    Q_OBJECT
  public:
    explicit TaskDialog(Document& document, QWidget* parent = nullptr);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void fill(const TaskSettings& task);
    TaskSettings entered() const;
    void showStatus(const QString& problem);
    QLineEdit* addPath(QVBoxLayout* column, const QString& name, const QString& tip, bool folders);

    Document& m_document;
    ChoiceBox *m_task, *m_decoder, *m_categories, *m_scores;
    QLineEdit *m_labels, *m_names;
    QLabel* m_status;
    std::optional<TaskSettings> m_tried;  ///< applied, but not open yet
    QPushButton* m_apply;
};

}  // namespace quantloupe::ui
