// SPDX-License-Identifier: Apache-2.0
#include "window/data_commands.h"

#include <QFileDialog>

#include "dialogs/preprocess_dialog.h"
#include "dialogs/task_dialog.h"
#include "document/demo.h"
#include "style/path_text.h"
#include "widgets/basics.h"

namespace quantloupe::ui {

DataCommands::DataCommands(Document* document, MessageBar* message, ModelActions* modelActions,
                           QWidget* window)
    : QObject(window),
      m_document(document),
      m_message(message),
      m_modelActions(modelActions),
      m_window(window) {
    connect(document, &Document::failed, this, [this](const Failure& failure) {
        if (failure.during == Failure::During::Data || failure.during == Failure::During::Export)
            m_failure = m_message->shownMessage();  // Document shows the error first
    });
    // The previous error of the data no longer applies, nor does that of an export, which may have lacked
    // data.
    connect(document, &Document::dataChanged, this, [this] {
        if (m_document->data()) m_message->dismissMessage(m_failure);
        m_failure = 0;
    });
}

void DataCommands::addTo(QMenu* file) {
    m_modelActions->add(addCommand(file, tr("Open &Data Folder\u2026"), keySequence("Ctrl+D"),
                                   tr("Images, or an ONNX test_data_set folder"),
                                   [this] { chooseData(DataForm::Folder); }));
    m_modelActions->add(addCommand(file, tr("Open Data &File\u2026"), keySequence("Ctrl+Shift+D"),
                                   tr("Arrays: .npy or .npz"), [this] { chooseData(DataForm::File); }));
    m_modelActions->add(addCommand(file, tr("Open &Calibration Folder\u2026"), {}, {},
                                   [this] { chooseCalibration(DataForm::Folder); }));
    m_modelActions->add(addCommand(file, tr("Open Cali&bration File\u2026"), {}, {},
                                   [this] { chooseCalibration(DataForm::File); }));
    m_modelActions->add(addCommand(file, tr("Preprocessin&g\u2026"), {},
                                   tr("How images are converted to network inputs"),
                                   [this] { showPreprocess(); }));
    m_modelActions->add(addCommand(file, tr("Lab&els\u2026"), {},
                                   tr("Labels of detection, segmentation and tokens, and names of classes"),
                                   [this] { showLabels(); }));
}

QString DataCommands::askForPath(const QString& title, DataForm form) {
    QString folder;  // empty: the one that was used last
    if (m_document->hasModel() && !isDemo(m_document->model()->path))
        folder =
            pathText((m_document->dataPath().empty() ? m_document->model()->path : m_document->dataPath())
                         .parent_path());
    return form == DataForm::Folder
               ? QFileDialog::getExistingDirectory(m_window, title, folder)
               : QFileDialog::getOpenFileName(m_window, title, folder,
                                              tr("NumPy arrays (*.npy *.npz);;All files (*)"));
}

void DataCommands::chooseData(DataForm form) {
    const QString path = askForPath(tr("Evaluation Data"), form);
    if (path.isEmpty()) return;
    m_document->openEvaluationData(path.toStdString());
}

void DataCommands::chooseCalibration(DataForm form) {
    if (m_document->dataPath().empty()) {
        m_message->show(MessageKind::Note, tr("Open evaluation data first."));
        return;
    }
    const QString path = askForPath(tr("Calibration Data"), form);
    // Meanwhile, another model may have been opened.
    if (!path.isEmpty() && !m_document->dataPath().empty())
        m_document->openData(m_document->dataPath(), path.toStdString());
}

void DataCommands::showPreprocess() {
    if (!m_preprocess) {
        m_preprocess = new PreprocessDialog(*m_document, m_window);
        connect(m_preprocess, &PreprocessDialog::saved, this, &DataCommands::preprocessSaved);
    }
    bringToFront(m_preprocess);
}

void DataCommands::showLabels() {
    if (!m_labels) m_labels = new TaskDialog(*m_document, m_window);
    bringToFront(m_labels);
}

}  // namespace quantloupe::ui
