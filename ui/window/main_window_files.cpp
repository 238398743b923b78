// SPDX-License-Identifier: Apache-2.0
// Opening, saving, exporting, drag and drop.
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QUrl>

#include "dialogs/export_dialog.h"
#include "dialogs/model_export_dialog.h"
#include "dialogs/preprocess_dialog.h"
#include "dialogs/task_dialog.h"
#include "document/output_folder.h"
#include "window/main_window.h"

namespace quantloupe::ui {

void MainWindow::chooseModel() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open Model"), {}, tr("ONNX models (*.onnx);;All files (*)"));
    if (!path.isEmpty() && mayDiscard()) open({path.toStdString(), {}, {}, {}});
}

QString MainWindow::askForData(const QString& title, DataForm form) {
    return form == DataForm::Folder ? QFileDialog::getExistingDirectory(this, title)
                                    : QFileDialog::getOpenFileName(
                                          this, title, {}, tr("NumPy arrays (*.npy *.npz);;All files (*)"));
}

void MainWindow::chooseData(DataForm form) {
    const QString path = askForData(tr("Evaluation Data"), form);
    if (path.isEmpty()) return;
    m_document.openData(path.toStdString(),
                        m_document.data() ? m_document.data()->calibrationPath : std::filesystem::path());
}

void MainWindow::chooseCalibration(DataForm form) {
    if (!m_document.data()) {
        m_message->show(MessageKind::Note, tr("Open evaluation data first."));
        return;
    }
    const QString path = askForData(tr("Calibration Data"), form);
    if (!path.isEmpty()) m_document.openData(m_document.data()->evaluationPath, path.toStdString());
}

void MainWindow::showPreprocess() {
    if (!m_preprocess) {
        m_preprocess = new PreprocessDialog(m_document, this);
        connect(m_preprocess, &PreprocessDialog::saved, this, &MainWindow::watchFile);
    }
    m_preprocess->show();
    m_preprocess->raise();
    m_preprocess->activateWindow();
}

void MainWindow::showLabels() {
    if (!m_labels) m_labels = new TaskDialog(m_document, this);
    m_labels->show();
    m_labels->raise();
    m_labels->activateWindow();
}

void MainWindow::chooseConfig() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Open Configuration"), {},
                                                      tr("Configurations (*.json);;All files (*)"));
    if (!path.isEmpty()) m_document.openConfig(path.toStdString());
}

bool MainWindow::saveConfig(bool askName) {
    std::filesystem::path path = m_document.configPath();
    if (askName || path.empty()) {
        const std::filesystem::path proposal = proposedOutput(m_document.model()->path, ".config.json");
        const QString chosen = QFileDialog::getSaveFileName(this, tr("Save Configuration"),
                                                            QString::fromStdString(proposal.string()),
                                                            tr("Configurations (*.json)"));
        if (chosen.isEmpty()) return false;
        path = chosen.toStdString();
    }
    return m_document.saveConfig(path);
}

void MainWindow::chooseExport(int index) {
    const ExportInfo& info = exportKinds()[static_cast<std::size_t>(index)];
    const std::filesystem::path proposal = proposedOutput(m_document.model()->path, info.suffix);
    if (info.kind == ExportKind::FileFormat) {
        ExportDialog dialog(m_document, info, proposal, this);
        if (dialog.exec() != QDialog::Accepted) return;
    }
    if (info.kind == ExportKind::QuantizedModel &&
        ModelExportDialog(m_document, this).exec() != QDialog::Accepted)
        return;
    QString title = QString::fromStdString(info.label);
    title.remove(QChar(0x2026));
    const QString chosen =
        QFileDialog::getSaveFileName(this, tr("Export: ") + title, QString::fromStdString(proposal.string()),
                                     QString::fromStdString(info.filter));
    if (chosen.isEmpty()) return;
    const std::filesystem::path path = chosen.toStdString();
    rememberOutputFolder(m_document.model()->path, path.parent_path());
    startExport(m_document, info, path);
}

/// Only asks if a tuned configuration with unsaved changes would be lost.
bool MainWindow::mayDiscard() {
    if (!m_askBeforeClosing || m_document.undoStack()->isClean()) return true;
    QMessageBox box(QMessageBox::Question, tr("Unsaved Configuration"),
                    tr("The configuration of %1 has unsaved changes.").arg(m_document.title()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setDefaultButton(QMessageBox::Save);
    switch (box.exec()) {
        case QMessageBox::Save:
            // Saves to the previous file, or as a project if there is none.
            return m_document.projectPath().empty() && !m_document.configPath().empty() ? saveConfig(false)
                                                                                        : saveProject(false);
        case QMessageBox::Discard:
            return true;
        default:
            return false;
    }
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const auto urls = event->mimeData()->urls();
    if (!urls.isEmpty() && urls.front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const auto urls = event->mimeData()->urls();
    if (urls.isEmpty()) return;
    event->acceptProposedAction();
    openDropped(urls.front().toLocalFile());
}

void MainWindow::openDropped(const QString& path) {
    static const QStringList kConfigurations = {QStringLiteral("json"), QStringLiteral("cfg"),
                                                QStringLiteral("py"),   QStringLiteral("yaml"),
                                                QStringLiteral("yml"),  QStringLiteral("encodings")};
    const QFileInfo info(path);
    const QString suffix = info.suffix().toLower();
    if (info.isDir() || suffix == QLatin1String("npy") || suffix == QLatin1String("npz"))
        m_document.openData(path.toStdString());
    else if (m_document.hasModel() && kConfigurations.contains(suffix))
        importFrom(path.toStdString());
    else if (suffix == QLatin1String("onnx") || isProjectFile(path.toStdString())) {
        if (mayDiscard()) open({path.toStdString(), {}, {}, {}});
    } else
        m_message->show(
            MessageKind::Error,
            kConfigurations.contains(suffix)
                ? tr("Open a model first: a configuration refers to the layers of a model.")
                : tr("%1 is neither a model (.onnx), nor a project (.quantloupe), nor data (a folder, .npy, "
                     ".npz), nor a configuration (.json).")
                      .arg(info.fileName()));
}

}  // namespace quantloupe::ui
