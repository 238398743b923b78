// SPDX-License-Identifier: Apache-2.0
// The document's data: opening it, the preprocessing of images, and labels.
#include "commands/preprocess_command.h"
#include "document/document.h"
#include "style/path_text.h"

namespace quantloupe::ui {

namespace fs = std::filesystem;

fs::path Document::dataPath() const {
    return m_open.data ? m_open.data->evaluationPath : m_open.dataWanted.first;
}

fs::path Document::calibrationPath() const {
    return m_open.data ? m_open.data->calibrationPath : m_open.dataWanted.second;
}

void Document::openData(const fs::path& evaluation, const fs::path& calibration) {
    if (!m_request.model.empty()) {  // a model is being loaded
        if (evaluation != m_request.data) m_request.task.reset();
        m_request.data = evaluation;
        m_request.calibration = calibration;
        return;
    }
    if (!m_open.model) {
        say(MessageKind::Error, tr("Open a model first: the required data format depends on its inputs."));
        return;
    }
    // The labels belong to the other data. Without data, these may be those of the project at a new place.
    if (m_open.data && evaluation != m_open.taskData) m_open.task = {};
    m_open.readsForCommand = false;
    readData(evaluation, calibration);
}

void Document::openEvaluationData(const fs::path& evaluation) {
    if (!m_request.model.empty()) return openData(evaluation, m_request.calibration);
    fs::path calibration = calibrationPath();
    std::error_code ignored;
    if (!m_open.data && !calibration.empty() && !fs::exists(calibration, ignored)) {
        say(MessageKind::Note, tr("The calibration data %1 no longer exist: open them at their new place, or "
                                  "calibrate on half of the data.")
                                   .arg(pathText(calibration)));
        calibration.clear();
    }
    openData(evaluation, calibration);
}

void Document::readData(const fs::path& evaluation, const fs::path& calibration) {
    m_open.dataWanted = {evaluation, calibration};
    m_open.taskData = evaluation;
    m_open.readsData = true;
    m_job.openData(evaluation, calibration, m_open.preprocess, m_open.task);
}

/// The data that was to replace the open data cannot be read.
void Document::keepData() {
    m_open.taskData = m_open.data->evaluationPath;
    m_open.dataWanted = {m_open.data->evaluationPath, m_open.data->calibrationPath};
    if (m_open.task == m_open.data->requestedTask && m_open.preprocess == m_open.data->requestedPreprocess)
        return;
    m_open.task = m_open.data->requestedTask;
    m_open.preprocess = m_open.data->requestedPreprocess;
    // An edit without effect is no step to undo.
    if (m_open.dataEdit && m_undo.index() > 0 && m_undo.command(m_undo.index() - 1) == m_open.dataEdit) {
        m_open.dataEdit->setObsolete(true);
        m_undo.undo();                    // only removes it
    } else if (m_open.readsForCommand) {  // an undone or redone edit without effect
        markProjectChanged();
    }
    m_open.dataEdit = nullptr;
    Q_EMIT dataChanged();
}

void Document::adoptData(const DataInfo& info) {
    m_open.data = info;
    m_open.readsData = false;
    m_open.dataEdit = nullptr;
    m_open.task = info.requestedTask;
    m_open.taskData = info.evaluationPath;
    // Commands change the undo stack; the file next to the model does not.
    const bool otherPreprocess =
        !m_open.readsForCommand && m_savedPreprocess && *m_savedPreprocess != info.preprocess;
    if (!m_open.projectPath.empty() &&
        (m_savedData != std::pair(info.evaluationPath, info.calibrationPath) || otherPreprocess))
        markProjectChanged();
    if (m_open.evaluation &&
        m_open.evaluation->randomInputs) {  // numbers of random inputs say nothing about this data
        m_open.evaluation.reset();
        m_open.unfinished.reset();
        m_open.layers.clear();
        m_open.scales.clear();
        m_open.history.remove(std::exchange(m_open.onRandomInputs, {}));
        Q_EMIT layersChanged();
        Q_EMIT historyChanged();
    }
    Q_EMIT dataChanged();
    evaluate();
}

Preprocess Document::preprocess() const {
    if (m_open.preprocess) return *m_open.preprocess;
    if (m_open.data) return m_open.data->preprocess;
    const auto beside = m_open.model ? preprocessBeside(m_open.model->path) : std::nullopt;
    return beside ? loadPreprocess(*beside) : Preprocess{};
}

void Document::setPreprocess(const std::optional<Preprocess>& preprocess) {
    if (!m_open.model || isBeingReplaced()) return;
    // the file next to the model may be different
    if (preprocess == m_open.preprocess) return adoptPreprocess(preprocess, false);
    m_open.onlyInProject = true;
    m_open.dataEdit = new PreprocessCommand(
        m_open.preprocess, preprocess,
        preprocess ? tr("Preprocessing") : tr("Preprocessing from the file next to the model"),
        [this](const std::optional<Preprocess>& choice) { adoptPreprocess(choice, true); });
    m_undo.push(m_open.dataEdit);
}

void Document::adoptPreprocess(const std::optional<Preprocess>& preprocess, bool byCommand) {
    m_open.preprocess = preprocess;
    m_open.readsForCommand = byCommand;
    if (!dataPath().empty()) readData(dataPath(), calibrationPath());
}

DataKind Document::dataKind() const {
    if (!m_open.data) return DataKind::None;
    return m_open.data->thumbnails.isEmpty() ? DataKind::Samples : DataKind::Images;
}

void Document::setTask(const TaskSettings& task) {
    if (!m_open.model || isBeingReplaced()) return;
    if (task == m_open.task) return adoptTask(task, false);
    m_open.onlyInProject = true;
    m_open.dataEdit = new TaskCommand(
        m_open.task, task, tr("Labels"), [this, data = m_open.taskData](const TaskSettings& choice) {
            if (data == m_open.taskData)
                adoptTask(choice, true);  // otherwise the labels belong to other data
        });
    m_undo.push(m_open.dataEdit);
}

void Document::adoptTask(const TaskSettings& task, bool byCommand) {
    m_open.task = task;
    m_open.readsForCommand = byCommand;
    if (!dataPath().empty()) readData(dataPath(), calibrationPath());
}

void Document::setMetricProgram(const std::optional<MetricProgram>& program) {
    if (program == m_metricProgram) return;
    m_metricProgram = program;
    m_job.setMetric(program);
    // Gains and drops of the previous metric have another unit.
    m_open.evaluation.reset();
    m_open.unfinished.reset();
    for (LayerResult& layer : m_open.layers) layer.leaveOneOut.reset();
    m_open.scales.clear();
    m_open.history.forgetUserMetric();
    Q_EMIT metricProgramChanged();
    Q_EMIT layersChanged();
    Q_EMIT historyChanged();
    evaluate();
}

fs::path Document::preprocessFile() const {
    fs::path file = m_open.model ? m_open.model->path : fs::path();
    return file.replace_extension(".preprocess.json");
}

}  // namespace quantloupe::ui
