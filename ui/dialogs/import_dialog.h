// SPDX-License-Identifier: Apache-2.0
#pragma once
// Preview of importing another tool's configuration: its format, the recognized settings, the unrecognized
// settings, and the changes. A click replaces an unknown layer name with a similar one. Nothing changes until
// the user accepts the import, which is one undo step.

#include <QDialog>
#include <QLabel>
#include <QPushButton>
#include <QTreeWidget>
#include <optional>

#include "document/document.h"
#include "interchange/file_format.h"
#include "jobs/worker_thread.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

class ImportDialog : public QDialog {
    Q_OBJECT
  public:
    ImportDialog(Document& document, const std::filesystem::path& path, QWidget* parent = nullptr);

    /// Asks for a file to import. Returns an empty text if the user cancels.
    static QString chooseFile(QWidget* parent, const QString& folder);

    bool reading() const { return m_reading; }
    void openFile(const std::filesystem::path& path);

    void accept() override;  ///< imports the configuration

  Q_SIGNALS:
    void reviewed();  ///< the file was read, or reading failed

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void chooseAnother();
    void read();
    void present(const ImportResult& result);
    void refuse(const QString& why, const std::optional<UnknownName>& unknown = {});
    void offerNames(QTreeWidgetItem* line, const UnknownName& unknown);
    void showRenamed();
    void follow(const QTreeWidgetItem* item);

    Document& m_document;
    std::filesystem::path m_path;
    std::vector<std::string> m_names;  ///< names of the formats in the combo box
    /// layer names that the user replaced: from names in the file to names in the model
    std::map<std::string, std::string> m_renamed;
    std::optional<ImportResult> m_result;
    QString m_guess;
    ElidedLabel* m_file;
    ChoiceBox* m_format;
    QLabel *m_what, *m_status;
    QTreeWidget* m_review;
    QPushButton* m_import;
    WorkerThread m_thread;  ///< reads the file, which can take long for a model
    quint64 m_generation = 0;
    bool m_reading = false;
};

}  // namespace quantloupe::ui
