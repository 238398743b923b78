// SPDX-License-Identifier: Apache-2.0
// The document's configuration file and project: opening, saving, and the history of evaluated
// configurations.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "config/config_json.h"
#include "document/document.h"
#include "session/adapt_config.h"
#include "style/path_text.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

namespace fs = std::filesystem;

QString listed(const std::vector<std::string>& names) {
    constexpr std::size_t kShown = 4;
    QStringList shown;
    for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i)
        shown.append(QString::fromStdString(names[i]));
    QString text = shown.join(QStringLiteral(", "));
    if (names.size() > kShown) text += Words::tr(" and %1 more").arg(names.size() - kShown);
    return text;
}

/// Describes how the model differs from the saved one.
QString changesInWords(const LayerMatch& match, const std::vector<std::string>& dropped, bool reloaded) {
    QStringList lines{reloaded ? Words::tr("The model was reloaded and has changed.")
                               : Words::tr("The model changed since the project was saved.")};
    const auto renamed =
        std::ranges::count_if(match.newNames, [](const auto& entry) { return entry.first != entry.second; });
    if (match.unchanged())
        lines.front() += Words::tr(" Its layers are the same; results of the earlier model are marked.");
    if (renamed > 0)
        lines.append(Words::tr("%1 renamed; the configuration uses the new names.")
                         .arg(layersText(static_cast<std::size_t>(renamed))));
    if (!match.unmatched.empty())
        lines.append(
            Words::tr("%1 removed: %2.").arg(layersText(match.unmatched.size()), listed(match.unmatched)));
    if (!match.added.empty())
        lines.append(Words::tr("%1 added: %2.").arg(layersText(match.added.size()), listed(match.added)));
    for (const std::string& what : dropped)
        lines.append(Words::tr("Dropped: %1.").arg(QString::fromStdString(what)));
    return lines.join(QLatin1Char('\n'));
}

std::optional<std::pair<fs::file_time_type, std::uintmax_t>> stateOf(const fs::path& file) {
    std::error_code failed;
    const auto time = fs::last_write_time(file, failed);
    if (failed) return std::nullopt;
    const auto size = fs::file_size(file, failed);
    if (failed) return std::nullopt;
    return std::pair(time, size);
}

/// Replaces the names of layers in the view and its bookmarks (window/view_state.h). `names`: `value` belongs
/// to a key that contains names of layers.
void renameLayers(Json& value, const std::map<std::string, std::string>& newNames, bool names = false) {
    static const std::set<std::string> kKeys = {"selected", "current", "at"};
    if (names && value.is_string()) {
        if (const auto found = newNames.find(value.get<std::string>()); found != newNames.end())
            value = found->second;
    } else if (value.is_structured()) {
        for (auto item = value.begin(); item != value.end(); ++item)
            renameLayers(*item, newNames, value.is_object() ? kKeys.contains(item.key()) : names);
    }
}

}  // namespace

bool isProjectFile(const fs::path& path) {
    return pathText(path.extension()).toLower() == QLatin1String(kProjectSuffix);
}

/// Loads the project named by the request, and sets the request's model and data to those of the project.
/// Throws Error.
Document::LoadingProject Document::readProject(OpenRequest& request) {
    const fs::path file = request.model;
    LoadingProject loading{loadProject(file), request.recoveredFor.value_or(file),
                           request.recoveredFor.has_value()};
    Project& project = loading.project;
    std::error_code ignored;
    const fs::path beside = loading.saveTo.parent_path() / project.model.filename();
    if (!fs::exists(project.model, ignored)) {
        if (loading.saveTo.empty() || !fs::exists(beside, ignored))
            fail(ErrorKind::Io,
                 "project '{}': its model '{}' does not exist; restore it, or put it next to the project",
                 file.filename().string(), project.model.string());
        project.model = beside;
        loading.unsaved = loading.modelMoved = true;
    }
    request.model = project.model;
    if (request.data.empty()) {
        request.data = project.data;
        if (request.calibration.empty()) request.calibration = project.calibration;
    }
    return loading;
}

/// Applies the project that was loaded with the model, except for its view, whose layers get their new names.
Document::ModelChanges Document::adoptProject(LoadingProject& loading) {
    Project& project = loading.project;
    m_open.projectPath = loading.saveTo;
    if (!loading.reloaded) {
        m_savedData = {project.data, project.calibration};
        m_savedPreprocess = project.preprocess;
        m_savedFile = stateOf(loading.saveTo);
    }
    m_open.preprocess = project.preprocess;
    m_open.task = project.task;
    m_open.taskData = project.data;
    ModelChanges changes;
    const LayerMatch match = matchLayers(project.layers, m_open.signatures);
    if (project.modelVersion != m_open.model->graph->version() || !match.unchanged()) {
        AdaptedConfig adapted = adaptConfig(project.config, match, *m_open.model->graph);
        project.config = std::move(adapted.config);
        for (MeasuredConfig& measured : project.history) {
            measured.config = adaptConfig(measured.config, match, *m_open.model->graph).config;
            measured.otherModel = true;
        }
        changes = {changesInWords(match, adapted.dropped, loading.reloaded),
                   !match.unmatched.empty() || !adapted.dropped.empty()};
        if (Json view = Json::parse(project.view, nullptr, false); !view.is_discarded()) {
            renameLayers(view, match.newNames);
            project.view = view.dump(-1, ' ', false, Json::error_handler_t::replace);
        }
    }
    m_open.config = std::move(project.config);
    m_open.history = EvaluationHistory(std::move(project.history), std::move(project.baseline));
    m_latency.restore(std::move(project.latency));
    m_open.configPath = loading.config;
    if (!changes.text.isEmpty() || loading.unsaved) m_undo.resetClean();
    m_open.onlyInProject = loading.onlyInProject || (!loading.reloaded && loading.unsaved);
    if (loading.modelMoved && changes.text.isEmpty())
        changes.text =
            tr("The model is no longer at its old place; the file next to the project was opened.");
    return changes;
}

Project Document::project() const {
    Project project;
    if (!m_open.model) return project;
    project.model = m_open.model->path;
    project.modelVersion = m_open.model->graph->version();
    project.layers = m_open.signatures;
    project.data = dataPath();
    project.calibration = calibrationPath();
    // The data may still be read with other preprocessing.
    const bool requested = m_open.data && m_open.preprocess != m_open.data->requestedPreprocess;
    project.preprocess = m_open.data && !requested ? m_open.data->preprocess : m_open.preprocess;
    // Labels that were chosen for other data, which are still being read, do not belong to this data.
    project.task = m_open.data && m_open.taskData != dataPath() ? m_open.data->requestedTask : m_open.task;
    project.config = m_open.config;
    project.history = m_open.history.entries();
    project.baseline = m_open.history.baseline();
    project.latency = m_latency.sources();
    if (m_collectView) project.view = m_collectView();
    return project;
}

InputPaths Document::openedPaths() const {
    InputPaths inputs;
    if (!m_open.model) return inputs;
    inputs.add("the model", m_open.model->path);
    for (const fs::path& file : m_open.model->dataFiles) inputs.add("external data of the model", file);
    inputs.add("the data", dataPath());
    inputs.add("the calibration data", calibrationPath());
    inputs.add("the labels", m_open.task.labels);
    inputs.add("the class names", m_open.task.classNames);
    return inputs;
}

InputPaths Document::inputPaths() const {
    InputPaths inputs = openedPaths();
    if (!m_open.model) return inputs;
    inputs.add("the configuration", m_open.configPath);
    inputs.add("the project", m_open.projectPath);
    inputs.add("the model's preprocessing file", preprocessFile());
    return inputs;
}

bool Document::saveProject(const fs::path& path) {
    takeTypedText();
    try {
        InputPaths inputs = openedPaths();
        inputs.add("the configuration", m_open.configPath);
        inputs.add("the model's preprocessing file", preprocessFile());
        inputs.checkOutput(path);
        quantloupe::saveProject(project(), path);
    } catch (const std::exception& error) {
        say(MessageKind::Error, QString::fromUtf8(error.what()));
        return false;
    }
    m_open.projectPath = path;
    m_savedData = {dataPath(), calibrationPath()};
    m_savedPreprocess = project().preprocess;
    m_savedFile = stateOf(path);
    m_open.onlyInProject = false;
    m_undo.setClean();
    Q_EMIT projectChanged();
    say(MessageKind::Note, tr("Saved the project as %1.").arg(pathText(path)));
    return true;
}

bool Document::projectWrittenElsewhere() const {
    const auto now = stateOf(m_open.projectPath);
    return now && m_savedFile && *now != *m_savedFile;
}

void Document::reload() {
    if (!m_open.model) return;
    m_request = {m_open.model->path, dataPath(), calibrationPath(), {}};
    m_loading.reset();
    m_reloading = true;
    Q_EMIT reloading();
    m_job.loadModel(m_open.model->path);
}

/// The document as a project that continues with the reloaded model.
Document::LoadingProject Document::toContinue() {
    takeTypedText();
    Project now = project();
    now.preprocess = m_open.preprocess;  // the file next to the model may have changed with the model
    return {std::move(now), m_open.projectPath,  !m_undo.isClean(), m_open.configPath,
            true,           m_open.onlyInProject};
}

void Document::markProjectChanged() {
    m_open.onlyInProject = true;
    m_undo.resetClean();
    Q_EMIT projectEdited();
}

/// The configuration is now that of the file.
void Document::adoptConfigPath(const std::filesystem::path& path) {
    m_open.configPath = path;
    if (m_open.projectPath.empty() && !m_open.onlyInProject) m_undo.setClean();
}

bool Document::openConfig(const std::filesystem::path& path) {
    try {
        ConfigEdit change{loadConfig(path), tr("Open %1").arg(pathText(path.filename())), {}};
        if (!edit(change, path)) return false;
        adoptConfigPath(path);
        return true;
    } catch (const std::exception& error) {
        say(MessageKind::Error, QString::fromUtf8(error.what()));
        return false;
    }
}

bool Document::saveConfig(const std::filesystem::path& path) {
    takeTypedText();
    try {
        InputPaths inputs = openedPaths();
        inputs.add("the project", m_open.projectPath);
        inputs.add("the model's preprocessing file", preprocessFile());
        inputs.checkOutput(path);
        quantloupe::saveConfig(m_open.config, path);
    } catch (const std::exception& error) {
        say(MessageKind::Error, QString::fromUtf8(error.what()));
        return false;
    }
    adoptConfigPath(path);
    say(MessageKind::Note, tr("Saved the configuration as %1.").arg(pathText(path)));
    return true;
}

/// The edits since the last configuration that was measured: quick edits are evaluated together.
QString Document::changeSinceMeasured() const {
    constexpr int kMost = 3;
    const int index = m_undo.index();
    if (index == 0) return tr("As opened");
    QStringList texts;
    if (m_open.measuredIndex < index - kMost) texts << QStringLiteral("\u2026");
    for (int i = std::clamp(m_open.measuredIndex, std::max(0, index - kMost), index - 1); i < index; ++i)
        texts << m_undo.text(i);
    texts.removeDuplicates();
    return texts.join(QStringLiteral("; "));
}

std::optional<MeasuredConfig> Document::measured(const EvaluationPtr& evaluation) {
    m_open.unfinishedIndex = m_undo.index();
    return measuredConfig(*evaluation, changeSinceMeasured().toStdString());
}

bool Document::isComparable(const MeasuredConfig& entry) const {
    if (entry.otherModel) return false;
    return entry.data.empty() || !m_open.evaluation || entry.data == m_open.evaluation->data.hex();
}

void Document::remember(std::optional<MeasuredConfig> measured) {
    m_open.unfinished.reset();
    if (measured) m_open.measuredIndex = m_open.unfinishedIndex;
    if (measured && m_open.history.add(std::move(*measured))) Q_EMIT historyChanged();
}

void Document::goBackTo(std::size_t index) {
    if (index >= m_open.history.entries().size()) return;
    const MeasuredConfig& entry = m_open.history.entries()[index];
    const QString change = QString::fromStdString(entry.change);
    const QString prefix = tr("Back to: ");
    edit({entry.config, change.startsWith(prefix) ? change : prefix + change, {}});
}

void Document::describeMeasured(std::size_t index, const QString& name, const QString& note) {
    if (index >= m_open.history.entries().size()) return;
    m_open.history.describe(index, name.trimmed().toStdString(), note.trimmed().toStdString());
    markProjectChanged();
    Q_EMIT historyChanged();
}

void Document::pinBaseline(std::size_t index) {
    if (index >= m_open.history.entries().size()) return;
    const std::string& version = m_open.history.entries()[index].version;
    m_open.history.pin(m_open.history.baseline() == version ? std::string() : version);
    markProjectChanged();
    Q_EMIT historyChanged();
}

}  // namespace quantloupe::ui
