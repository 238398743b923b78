// SPDX-License-Identifier: Apache-2.0
// The document's data: opening it, the preprocessing of images, and labels.
#include "commands/preprocess_command.h"
#include "document/document.h"

namespace quantloupe::ui {

namespace fs = std::filesystem;

fs::path Document::dataPath() const { return m_data ? m_data->evaluationPath : m_dataWanted.first; }

fs::path Document::calibrationPath() const { return m_data ? m_data->calibrationPath : m_dataWanted.second; }

void Document::openData(const fs::path& evaluation, const fs::path& calibration) {
    if (!m_request.model.empty()) {  // a model is being loaded
        if (evaluation != m_request.data) m_request.task.reset();
        m_request.data = evaluation;
        m_request.calibration = calibration;
        return;
    }
    if (!m_model) {
        say(MessageKind::Error, tr("Open a model first: the required data format depends on its inputs."));
        return;
    }
    if (evaluation != m_taskData) m_task = {};  // the labels belong to the other data
    readData(evaluation, calibration);
}

void Document::readData(const fs::path& evaluation, const fs::path& calibration) {
    m_dataWanted = {evaluation, calibration};
    m_taskData = evaluation;
    m_readsData = true;
    m_job.openData(evaluation, calibration, m_preprocess, m_task);
}

/// The data that was to replace the open data cannot be read.
void Document::keepData() {
    m_taskData = m_data->evaluationPath;
    m_dataWanted = {m_data->evaluationPath, m_data->calibrationPath};
    if (m_task == m_data->requestedTask && m_preprocess == m_data->requestedPreprocess) return;
    m_task = m_data->requestedTask;
    m_preprocess = m_data->requestedPreprocess;
    // An edit without effect is no step to undo.
    if (m_dataEdit && m_undo.index() > 0 && m_undo.command(m_undo.index() - 1) == m_dataEdit) {
        m_dataEdit->setObsolete(true);
        m_undo.undo();  // only removes it
    }
    m_dataEdit = nullptr;
    Q_EMIT dataChanged();
}

void Document::adoptData(const DataInfo& info) {
    m_data = info;
    m_readsData = false;
    m_dataEdit = nullptr;
    m_task = info.requestedTask;
    m_taskData = info.evaluationPath;
    if (!m_projectPath.empty() && m_savedData != std::pair(info.evaluationPath, info.calibrationPath))
        markProjectChanged();
    if (m_evaluation && m_evaluation->randomInputs) {  // numbers of random inputs say nothing about this data
        m_evaluation.reset();
        m_unfinished.reset();
        m_layers.clear();
        m_scales.clear();
        m_history.remove(std::exchange(m_onRandomInputs, {}));
        Q_EMIT layersChanged();
        Q_EMIT historyChanged();
    }
    Q_EMIT dataChanged();
    evaluate();
}

Preprocess Document::preprocess() const {
    if (m_preprocess) return *m_preprocess;
    if (m_data) return m_data->preprocess;
    const auto beside = m_model ? preprocessBeside(m_model->path) : std::nullopt;
    return beside ? loadPreprocess(*beside) : Preprocess{};
}

void Document::setPreprocess(const std::optional<Preprocess>& preprocess) {
    if (!m_model || isBeingReplaced()) return;
    // the file next to the model may be different
    if (preprocess == m_preprocess) return adoptPreprocess(preprocess);
    m_onlyInProject = true;
    m_dataEdit = new PreprocessCommand(
        m_preprocess, preprocess,
        preprocess ? tr("Preprocessing") : tr("Preprocessing from the file next to the model"),
        [this](const std::optional<Preprocess>& choice) { adoptPreprocess(choice); });
    m_undo.push(m_dataEdit);
}

void Document::adoptPreprocess(const std::optional<Preprocess>& preprocess) {
    m_preprocess = preprocess;
    if (!dataPath().empty()) readData(dataPath(), calibrationPath());
}

DataKind Document::dataKind() const {
    if (!m_data) return DataKind::None;
    return m_data->thumbnails.isEmpty() ? DataKind::Samples : DataKind::Images;
}

void Document::setTask(const TaskSettings& task) {
    if (!m_model || isBeingReplaced()) return;
    if (task == m_task) return adoptTask(task);
    m_onlyInProject = true;
    m_dataEdit =
        new TaskCommand(m_task, task, tr("Labels"), [this, data = m_taskData](const TaskSettings& choice) {
            if (data == m_taskData) adoptTask(choice);  // otherwise the labels belong to other data
        });
    m_undo.push(m_dataEdit);
}

void Document::adoptTask(const TaskSettings& task) {
    m_task = task;
    if (!dataPath().empty()) readData(dataPath(), calibrationPath());
}

void Document::setMetricProgram(const std::optional<MetricProgram>& program) {
    if (program == m_metricProgram) return;
    m_metricProgram = program;
    m_job.setMetric(program);
    // Gains and drops of the previous metric have another unit.
    m_evaluation.reset();
    m_unfinished.reset();
    for (LayerResult& layer : m_layers) layer.leaveOneOut.reset();
    m_scales.clear();
    m_history.forgetUserMetric();
    Q_EMIT metricProgramChanged();
    Q_EMIT layersChanged();
    Q_EMIT historyChanged();
    evaluate();
}

fs::path Document::preprocessFile() const {
    fs::path file = m_model ? m_model->path : fs::path();
    return file.replace_extension(".preprocess.json");
}

}  // namespace quantloupe::ui
