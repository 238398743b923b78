// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exports several formats into one folder and shows the result of each.

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTimer>
#include <QTreeWidget>

#include "dialogs/exports.h"

namespace quantloupe::ui {

class BatchExportDialog : public QDialog {
    Q_OBJECT
  public:
    explicit BatchExportDialog(Document& document, QWidget* parent = nullptr);

    QTreeWidgetItem* item(const std::string& format) const;  ///< null if the format does not exist
    bool running() const { return m_batch != nullptr; }
    void setChecked(const std::string& format, bool on);

  private:
    void start();
    void showProgress();
    void finish();
    void refresh();

    Document& m_document;
    QLineEdit* m_folder;
    QTreeWidget* m_list;
    std::vector<QTreeWidgetItem*> m_items;  ///< one per export kind, in the same order
    QLabel* m_status;
    QPushButton* m_export;
    QTimer m_poll;
    std::shared_ptr<BatchExport> m_batch;  ///< while it runs
    std::size_t m_shown = 0;
};

}  // namespace quantloupe::ui
