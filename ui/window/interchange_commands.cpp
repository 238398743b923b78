// SPDX-License-Identifier: Apache-2.0
#include "window/interchange_commands.h"

#include <QFileDialog>

#include "dialogs/batch_export_dialog.h"
#include "dialogs/export_dialog.h"
#include "dialogs/exports.h"
#include "dialogs/import_dialog.h"
#include "dialogs/model_export_dialog.h"
#include "dialogs/verify_dialog.h"
#include "document/output_folder.h"
#include "graph/picture_export.h"
#include "interchange/guess_format.h"
#include "style/path_text.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

InterchangeCommands::InterchangeCommands(Document* document, GraphCanvas* canvas, SummaryBar* summary,
                                         ModelActions* modelActions, QMainWindow* window)
    : QObject(window), m_document(document), m_window(window) {
    QMenu* menu = window->menuBar()->addMenu(tr("E&xport"));
    const auto& kinds = exportKinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const QKeySequence keys = i == 0 ? keySequence("Ctrl+E") : QKeySequence();
        modelActions->add(addCommand(menu, QString::fromStdString(kinds[i].title) + QChar(0x2026), keys,
                                     QString::fromStdString(kinds[i].tip), [this, i] { chooseExport(i); }));
        if (i == 0) addVerification(menu, modelActions);  // after the quantized model
        if (i + 1 < kinds.size() && kinds[i + 1].family != kinds[i].family) menu->addSeparator();
    }
    modelActions->add(addPictureExports(menu, document, canvas, window));
    summary->exportButton()->setMenu(menu);
    modelActions->add(summary->exportButton());
}

void InterchangeCommands::addVerification(QMenu* menu, ModelActions* modelActions) {
    modelActions->add(addCommand(menu, tr("&Verify in ONNX Runtime\u2026"), keySequence("Ctrl+R"),
                                 tr("Runs the quantized model in ONNX Runtime on the same samples and "
                                    "compares its accuracy with the preview"),
                                 [this] { verify(); }));
    modelActions->add(addCommand(menu, tr("Export &Several Formats\u2026"), keySequence("Ctrl+Shift+E"),
                                 tr("Exports several formats into one folder"), [this] { exportSeveral(); }));
    menu->addSeparator();
}

void InterchangeCommands::chooseExport(std::size_t index) {
    const ExportInfo& info = exportKinds()[index];
    const std::filesystem::path proposal = proposedOutput(m_document->model()->path, info.suffix);
    if (info.kind == ExportKind::FileFormat) {
        ExportDialog dialog(*m_document, info, proposal, m_window);
        connect(m_document, &Document::modelChanged, &dialog, &QDialog::reject);
        if (dialog.exec() != QDialog::Accepted) return;
    }
    if (info.kind == ExportKind::QuantizedModel) {
        ModelExportDialog dialog(*m_document, m_window);
        connect(m_document, &Document::modelChanged, &dialog, &QDialog::reject);
        if (dialog.exec() != QDialog::Accepted) return;
    }
    const QString title = tr("Export: ") + QString::fromStdString(info.title);
    const QString chosen = QFileDialog::getSaveFileName(m_window, title, pathText(proposal),
                                                        QString::fromStdString(info.filter));
    if (chosen.isEmpty()) return;
    const std::filesystem::path path = chosen.toStdString();
    rememberOutputFolder(m_document->model()->path, path.parent_path());
    startExport(*m_document, info, path);
}

void InterchangeCommands::exportSeveral() {
    auto* dialog = new BatchExportDialog(*m_document, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void InterchangeCommands::verify() {
    if (!m_verify) m_verify = new VerifyDialog(*m_document, m_window);
    bringToFront(m_verify);
    if (!m_verify->job()->running()) m_verify->start();
}

void InterchangeCommands::chooseImport() {
    const QString path = ImportDialog::chooseFile(m_window, {});
    if (!path.isEmpty()) importFrom(path.toStdString());
}

void InterchangeCommands::importFrom(const std::filesystem::path& path) {
    if (path.extension() == ".json") {
        const std::string guess = guessFormat(path);
        if (guess.empty() || guess == "quantloupe") {  // ours, or openConfig() reports an error
            m_document->openConfig(path);
            return;
        }
    }
    auto* dialog = new ImportDialog(*m_document, path, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(m_document, &Document::modelChanged, dialog, &QDialog::reject);
    dialog->open();
}

}  // namespace quantloupe::ui
