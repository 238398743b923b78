// SPDX-License-Identifier: Apache-2.0
#include "window/file_commands.h"

#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <algorithm>

#include "dialogs/set_inputs_dialog.h"
#include "document/demo.h"
#include "document/output_folder.h"
#include "document/recent_files.h"
#include "interchange/guess_format.h"
#include "style/path_text.h"
#include "style/words.h"
#include "widgets/number_field.h"

namespace quantloupe::ui {

namespace {

QString projectFilter() { return Words::tr("Quantloupe projects (*.quantloupe)"); }

}  // namespace

FileCommands::FileCommands(Document* document, MessageBar* message, StartPage* start, DataCommands* data,
                           ModelActions* modelActions, const std::filesystem::path& resources,
                           QMainWindow* window)
    : QObject(window),
      m_document(document),
      m_message(message),
      m_start(start),
      m_resources(resources),
      m_window(window) {
    buildMenu(window->menuBar()->addMenu(tr("&File")), data, modelActions);
    connect(document, &Document::modelChanged, this, [this] {
        m_start->setBusy({});
        if (m_document->projectPath().empty()) rememberModel(pathText(m_document->model()->path));
        updateRecent();
    });
    connect(document, &Document::projectChanged, this, [this] {
        if (!m_document->projectPath().empty()) rememberModel(pathText(m_document->projectPath()));
        updateRecent();
    });
    connect(document, &Document::failed, this, [this] { m_start->setBusy({}); });
    connect(document, &Document::typedTextWanted, this, [this] {
        if (auto* field = qobject_cast<NumberField*>(m_window->focusWidget()))
            Q_EMIT field->editingFinished();
    });
    connect(start, &StartPage::openRequested, this, &FileCommands::chooseModel);
    connect(start, &StartPage::demoRequested, this, [this] { openDemo(); });
    connect(start, &StartPage::recentChosen, this, &FileCommands::openPath);
}

void FileCommands::buildMenu(QMenu* file, DataCommands* data, ModelActions* modelActions) {
    addCommand(file, tr("New &Window"), QKeySequence::New,
               tr("Opens another window, for another model or for the same one"),
               [this] { Q_EMIT newWindowRequested(); });
    addCommand(file, tr("&Open Model\u2026"), QKeySequence::Open, {}, [this] { chooseModel(); });
    addCommand(file, tr("Open &Project\u2026"), keySequence("Ctrl+Alt+O"), {}, [this] { chooseProject(); });
    data->addTo(file);
    m_recent = file->addMenu(tr("Recen&t Files"));
    updateRecent();
    addCommand(file, tr("Open De&mo"), {}, {}, [this] {
        if (mayDiscard()) openDemo();
    })->setEnabled(findDemo(m_resources).has_value());
    file->addSeparator();
    modelActions->add(addCommand(file, tr("&Save Project"), QKeySequence::Save,
                                 tr("Saves the model and data paths, the configuration and all results"),
                                 [this] { saveProject(false); }));
    modelActions->add(addCommand(file, tr("Save Project &As\u2026"), keySequence("Ctrl+Shift+S"), {},
                                 [this] { saveProject(true); }));
    file->addSeparator();
    modelActions->add(addCommand(file, tr("Open Configuration\u2026"), keySequence("Ctrl+Shift+O"), {},
                                 [this] { chooseConfig(); }));
    modelActions->add(
        addCommand(file, tr("&Import from Another Tool\u2026"), keySequence("Ctrl+I"),
                   tr("A configuration of AMCT, Quark, CLIKA ACE, AIMET or ONNX Runtime, or of a "
                      "model quantized by Quantloupe"),
                   [this] { Q_EMIT importRequested(); }));
    modelActions->add(addCommand(file, tr("Save Co&nfiguration"), {},
                                 tr("Saves only the configuration, in the format of the command line"),
                                 [this] { saveConfig(false); }));
    modelActions->add(
        addCommand(file, tr("Sa&ve Configuration As\u2026"), {}, {}, [this] { saveConfig(true); }));
    file->addSeparator();
    modelActions->add(addCommand(
        file, tr("Set Inp&uts\u2026"), {},
        tr("Writes a copy of the model with other sizes of its inputs, or constants, and opens it"),
        [this] { setInputs(); }));
    modelActions->add(addCommand(file, tr("&Reload Model"), keySequence("Ctrl+Shift+R"),
                                 tr("Reads the file again and keeps your tuning"),
                                 [this] { m_document->reload(); }));
    file->addSeparator();
    addCommand(file, tr("C&lose Window"), keySequence("Ctrl+W"), {}, [this] { m_window->close(); });
    addCommand(file, tr("&Quit"), QKeySequence::Quit, {}, [] { QApplication::closeAllWindows(); });
}

void FileCommands::updateRecent() {
    m_recent->clear();
    const QStringList paths = recentModels();
    for (const QString& path : paths) {
        QAction* action = m_recent->addAction(path);
        action->setProperty("comesAndGoes", true);
        connect(action, &QAction::triggered, this, [this, path] {
            if (mayDiscard()) openPath(path);
        });
    }
    m_recent->setEnabled(!paths.isEmpty());
    if (paths.isEmpty()) return;
    m_recent->addSeparator();
    QAction* clear = m_recent->addAction(tr("Clear List"));
    clear->setProperty("comesAndGoes", true);
    connect(clear, &QAction::triggered, this, [this] {
        forgetModels();
        updateRecent();
        m_start->refresh();
    });
}

void FileCommands::open(const OpenRequest& request) {
    Q_EMIT opening(request.recoveredFor.has_value());
    m_start->setBusy(tr("Opening %1\u2026").arg(pathText(request.model.filename())));
    m_document->open(request);
}

void FileCommands::openPath(const QString& path) { open({path.toStdString(), {}, {}, {}}); }

bool FileCommands::openDemo(const OpenRequest& instead) {
    auto demo = findDemo(m_resources);
    if (!demo) {
        m_message->show(MessageKind::Error,
                        tr("The demo files are not installed: there is no folder ../share/quantloupe/demo "
                           "relative to the program."));
        return false;
    }
    if (!instead.data.empty()) {
        demo->data = instead.data;
        demo->calibration.clear();
    }
    if (!instead.calibration.empty()) demo->calibration = instead.calibration;
    if (!instead.config.empty()) {
        demo->config = instead.config;
        demo->ownConfig = true;
    }
    demo->configure = instead.configure;
    demo->preprocess = instead.preprocess;
    demo->task = instead.task;
    open(*demo);
    return true;
}

/// The folder in which the user looks for files: that of the model. Empty without an own model.
QString FileCommands::folder() const {
    if (!m_document->hasModel() || isDemo(m_document->model()->path)) return {};
    return pathText(m_document->model()->path.parent_path());
}

void FileCommands::chooseModel() {
    const QString path = QFileDialog::getOpenFileName(m_window, tr("Open Model"), folder(),
                                                      tr("ONNX models (*.onnx);;All files (*)"));
    if (!path.isEmpty() && mayDiscard()) openPath(path);
}

void FileCommands::setInputs() {
    SetInputsDialog dialog(*m_document, m_window);
    connect(&dialog, &SetInputsDialog::saveRequested, &dialog, [this, &dialog] {
        const std::filesystem::path path =
            chooseOutput(tr("Save Model"), proposedOutput(m_document->model()->path, ".inputs.onnx"),
                         tr("ONNX models (*.onnx)"), QStringLiteral("onnx"));
        if (!path.empty()) dialog.write(path);
    });
    if (dialog.exec() == QDialog::Accepted && mayDiscard()) openPath(pathText(dialog.written()));
}

void FileCommands::chooseProject() {
    const QString path = QFileDialog::getOpenFileName(m_window, tr("Open Project"), folder(),
                                                      projectFilter() + tr(";;All files (*)"));
    if (path.isEmpty() || !mayDiscard()) return;
    if (!isProjectFile(path.toStdString())) {
        m_message->show(MessageKind::Error, tr("The name of a project file ends with .quantloupe."));
        return;
    }
    openPath(path);
}

/// Returns an empty path if the user cancels.
std::filesystem::path FileCommands::chooseOutput(const QString& title, const std::filesystem::path& proposal,
                                                 const QString& filter, const QString& suffix) {
    QFileDialog dialog(m_window, title, pathText(proposal.parent_path()), filter);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(suffix);  // added before it asks to overwrite
    dialog.selectFile(pathText(proposal.filename()));
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
    return dialog.selectedFiles().constFirst().toStdString();
}

bool FileCommands::saveProject(bool askName) {
    std::filesystem::path path = m_document->projectPath();
    if (!askName && m_document->projectWrittenElsewhere()) {
        QMessageBox box(
            QMessageBox::Warning, tr("Project Changed"),
            tr("%1 has been saved by another window or program since it was opened here. Saving replaces "
               "those changes.")
                .arg(pathText(path.filename())),
            QMessageBox::Cancel, m_window);
        const QPushButton* replace = box.addButton(tr("Replace"), QMessageBox::DestructiveRole);
        const QPushButton* other = box.addButton(tr("Save As\u2026"), QMessageBox::AcceptRole);
        box.exec();
        if (box.clickedButton() == other)
            askName = true;
        else if (box.clickedButton() != replace)
            return false;
    }
    if (askName || path.empty()) {
        const std::filesystem::path proposal =
            path.empty() ? proposedOutput(m_document->model()->path, kProjectSuffix) : path;
        path = chooseOutput(tr("Save Project"), proposal, projectFilter(), QLatin1String(kProjectSuffix + 1));
        if (path.empty()) return false;
        if (!isProjectFile(path)) {
            m_message->show(MessageKind::Error, tr("The name of a project file must end with .quantloupe."));
            return false;
        }
    }
    return m_document->saveProject(path);
}

void FileCommands::chooseConfig() {
    const QString path = QFileDialog::getOpenFileName(m_window, tr("Open Configuration"), folder(),
                                                      tr("Configurations (*.json);;All files (*)"));
    if (!path.isEmpty()) m_document->openConfig(path.toStdString());
}

bool FileCommands::saveConfig(bool askName) {
    std::filesystem::path path = m_document->configPath();
    if (askName || path.empty()) {
        const std::filesystem::path proposal = proposedOutput(m_document->model()->path, ".config.json");
        path = chooseOutput(tr("Save Configuration"), proposal, tr("Configurations (*.json)"),
                            QStringLiteral("json"));
        if (path.empty()) return false;
    }
    return m_document->saveConfig(path);
}

/// Asks before exports that are not finished are cancelled.
bool FileCommands::mayCancelExports() {
    if (!m_askBeforeClosing) return true;
    QStringList exports;
    for (const QueuedWork& work : m_document->job()->queue())
        if (work.kind == QueuedWork::Kind::Export) exports << work.what;
    if (exports.isEmpty()) return true;
    QMessageBox box(QMessageBox::Question, tr("Unfinished Exports"),
                    tr("Not written yet: %1.").arg(exports.join(QStringLiteral(", "))), QMessageBox::Cancel,
                    m_window);
    const QPushButton* discard = box.addButton(tr("Discard Exports"), QMessageBox::DestructiveRole);
    box.exec();
    return box.clickedButton() == discard;
}

bool FileCommands::mayDiscard() {
    m_document->takeTypedText();
    if (!mayCancelExports()) return false;
    if (!m_askBeforeClosing || m_document->undoStack()->isClean()) return true;
    QMessageBox box(QMessageBox::Question, tr("Unsaved Changes"),
                    tr("%1 has unsaved changes.").arg(m_document->title()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, m_window);
    box.setDefaultButton(QMessageBox::Save);
    switch (box.exec()) {
        case QMessageBox::Save:
            // Saves to the previous file, or as a project if there is none.
            return m_document->configHasAllChanges() ? saveConfig(false) : saveProject(false);
        case QMessageBox::Discard:
            return true;
        default:
            return false;
    }
}

void FileCommands::openDropped(const QString& path) {
    const QFileInfo info(path);
    const QString suffix = info.suffix().toLower();
    const bool configuration =
        suffix != QLatin1String("onnx") && std::ranges::count(kImportEndings, '.' + suffix.toStdString()) > 0;
    if (info.isDir() || suffix == QLatin1String("npy") || suffix == QLatin1String("npz"))
        m_document->openEvaluationData(path.toStdString());
    else if (m_document->hasModel() && configuration)
        Q_EMIT fileImportRequested(path.toStdString());
    else if (suffix == QLatin1String("onnx") || isProjectFile(path.toStdString())) {
        if (mayDiscard()) openPath(path);
    } else
        m_message->show(
            MessageKind::Error,
            configuration
                ? tr("Open a model first: a configuration refers to the layers of a model.")
                : tr("%1 is neither a model (.onnx), nor a project (.quantloupe), nor data (a folder, .npy, "
                     ".npz), nor a configuration (.json).")
                      .arg(info.fileName()));
}

}  // namespace quantloupe::ui
