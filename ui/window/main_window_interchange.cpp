// SPDX-License-Identifier: Apache-2.0
// Importing configurations of other tools, batch export, verification and latency in ONNX Runtime.
#include <QFileDialog>

#include "dialogs/batch_export_dialog.h"
#include "dialogs/import_dialog.h"
#include "dialogs/latency_dialog.h"
#include "dialogs/verify_dialog.h"
#include "interchange/guess_format.h"
#include "window/main_window.h"

namespace quantloupe::ui {

void MainWindow::chooseImport() {
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Import from Another Tool"), {},
        tr("Configurations (*.json *.cfg *.py *.yaml *.yml *.encodings *.onnx);;All files (*)"));
    if (!path.isEmpty()) importFrom(path.toStdString());
}

void MainWindow::importFrom(const std::filesystem::path& path) {
    if (path.extension() == ".json") {
        const std::string guess = guessFormat(path);
        if (guess.empty() || guess == "quantloupe") {  // ours, or openConfig() reports an error
            m_document.openConfig(path);
            return;
        }
    }
    auto* dialog = new ImportDialog(m_document, path, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::exportSeveral() {
    auto* dialog = new BatchExportDialog(m_document, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::verifyExport() {
    if (!m_verify) m_verify = new VerifyDialog(m_document, this);
    m_verify->show();
    m_verify->raise();
    if (!m_verify->job()->running()) m_verify->start();
}

LatencyDialog* MainWindow::showLatency() {
    if (!m_latency) m_latency = new LatencyDialog(m_document, this);
    m_latency->show();
    m_latency->raise();
    return m_latency;
}

}  // namespace quantloupe::ui
