// SPDX-License-Identifier: Apache-2.0
#pragma once
// Editor for the labels of the evaluation data: what the network does, the COCO file or the folder of label
// images, the decoder of boxes, and the names of the classes.

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "document/document.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

/// "Detection, instances.json, yolov8": one line; empty if nothing is set.
QString taskInWords(const TaskSettings& task);

class TaskDialog : public QDialog {
    Q_OBJECT
  public:
    explicit TaskDialog(Document& document, QWidget* parent = nullptr);

    QLineEdit* labels() const { return m_labels; }
    ChoiceBox* task() const { return m_task; }
    ChoiceBox* decoder() const { return m_decoder; }
    QPushButton* applyButton() const { return m_apply; }

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void fill(const TaskSettings& task);
    TaskSettings entered() const;
    void showStatus(const QString& problem);
    QLineEdit* addPath(QVBoxLayout* column, const QString& name, const QString& tip, bool folders);

    Document& m_document;
    ChoiceBox *m_task, *m_decoder, *m_categories;
    QLineEdit *m_labels, *m_names;
    QLabel* m_status;
    QPushButton* m_apply;
};

}  // namespace quantloupe::ui
