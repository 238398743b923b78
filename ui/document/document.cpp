// SPDX-License-Identifier: Apache-2.0
#include "document/document.h"

#include <algorithm>

#include "commands/config_command.h"
#include "config/config_json.h"
#include "config/skip_rules.h"
#include "document/layer_states.h"

namespace quantloupe::ui {

Document::Document(QObject* parent) : QObject(parent) {
    connect(&m_job, &EvaluationJob::modelLoaded, this, &Document::adoptModel);
    connect(&m_job, &EvaluationJob::dataOpened, this, &Document::adoptData);
    connect(&m_job, &EvaluationJob::evaluated, this,
            [this](const EvaluationPtr&, const ShownEvaluation& shown) { adoptEvaluation(shown); });
    connect(&m_job, &EvaluationJob::evaluationFinished, this,
            [this](const EvaluationPtr& last, double seconds) {
                m_open.evaluating = false;
                // This is usually the last snapshot.
                if (m_open.evaluation != last || m_open.guessed)
                    adoptEvaluation(withNumbersOf(nullptr, last));
                m_open.accuracyStale = m_open.metricsStale = m_pendingEdits > 0;
                remember(last->complete ? measured(last) : std::nullopt);
                Q_EMIT evaluationChanged();
                Q_EMIT evaluationFinished(seconds);
                waitForIdle();
            });
    connect(&m_idle, &QTimer::timeout, this, &Document::doIdleWork);
    connect(&m_job, &EvaluationJob::queriesFinished, this, &Document::waitForIdle);
    connect(&m_job, &EvaluationJob::busyChanged, this, [this](bool busy) {
        if (!busy) waitForIdle();
    });
    connect(this, &Document::historyChanged, this, &Document::waitForIdle);
    connect(&m_job, &EvaluationJob::evaluationCancelled, this, [this] {
        m_open.evaluating = false;
        remember(std::exchange(m_open.unfinished, {}));
        Q_EMIT evaluationChanged();
    });
    connect(&m_job, &EvaluationJob::failed, this, [this](const Failure& failure) {
        if (failure.during == Failure::During::Evaluation) {
            m_open.evaluating = false;
            listUnevaluated();
        }
        if (failure.during == Failure::During::Loading) {
            m_request = {};
            m_reloading = false;
        }
        if (failure.during == Failure::During::Data) {
            m_open.readsData = false;
            if (m_open.data) keepData();
        }
        say(MessageKind::Error, failure.text);
        Q_EMIT evaluationChanged();
        Q_EMIT failed(failure);
        // Loading a model cancels the reading of data. If it fails, they are still needed.
        if (failure.during == Failure::During::Loading && m_open.readsData)
            return readData(m_open.dataWanted.first, m_open.dataWanted.second);
        // Opening something cancels the running evaluation, so what remains open is evaluated again. The
        // model can still be viewed without its data.
        const bool opening =
            failure.during == Failure::During::Loading || failure.during == Failure::During::Data;
        if (opening && (m_open.evaluating || !m_open.evaluation)) evaluate();
    });
    connect(&m_job, &EvaluationJob::exported, this, [this](const QString& text) {
        if (!text.isEmpty()) say(MessageKind::Note, text);
    });
    connect(&m_job, &EvaluationJob::exportsCancelled, this, [this](const QStringList& exports) {
        say(MessageKind::Note, tr("Cancelled: %1").arg(exports.join(QStringLiteral(", "))));
    });
    connect(&m_latency, &LayerLatency::changed, this, [this] {
        m_open.scales.erase(Metric::Latency);
        Q_EMIT layersChanged();
        Q_EMIT evaluationChanged();
    });
    connect(&m_layoutJob, &LayoutJob::laidOut, this, [this](const PicturePtr& picture) {
        m_open.picture = picture;
        Q_EMIT pictureChanged();
    });
    connect(&m_layoutJob, &LayoutJob::failed, this, [this](const QString& text) {
        say(MessageKind::Error, tr("Could not lay out the graph: ") + text);
    });
}

Document::~Document() {
    // The undo stack notifies views while it is destroyed, and these views access this object.
    m_undo.disconnect();
}

QString Document::title() const {
    if (!m_open.model) return {};
    return QString::fromStdString(
        (m_open.projectPath.empty() ? m_open.model->path : m_open.projectPath).stem().string());
}

QString Document::withLayerNames(const QString& text) const {
    return QString::fromStdString(m_open.names.inText(text.toStdString()));
}

const LayerResult* Document::layer(NodeId node) const {
    return node.valid() && node.index() < m_open.layers.size() ? &m_open.layers[node.index()] : nullptr;
}

bool Document::isSelected(NodeId node) const {
    return std::ranges::find(m_open.selection, node) != m_open.selection.end();
}

void Document::select(std::vector<NodeId> nodes, NodeId current) {
    // A view may still show an earlier model.
    const auto isUnknown = [this](NodeId node) {
        return !m_open.model || node.index() >= m_open.model->graph->nodeCount();
    };
    std::erase_if(nodes, isUnknown);
    if (current.valid() && isUnknown(current)) current = {};
    if (nodes == m_open.selection && current == m_open.current) return;
    m_open.selection = std::move(nodes);
    m_open.current = current;
    Q_EMIT selectionChanged();
}

void Document::open(const OpenRequest& request) {
    OpenRequest wanted = request;
    std::optional<LoadingProject> loading;
    try {
        if (isProjectFile(request.model) || request.recoveredFor) loading = readProject(wanted);
    } catch (const std::exception& error) {
        const Failure failure{Failure::During::Loading, QString::fromUtf8(error.what())};
        say(MessageKind::Error, failure.text);
        Q_EMIT failed(failure);
        return;
    }
    m_request = std::move(wanted);
    m_loading = std::move(loading);
    m_reloading = false;
    m_job.loadModel(m_request.model);
}

void Document::adoptModel(const ModelPtr& model, const std::vector<LayerSignature>& signatures,
                          const LayerNames& names) {
    std::optional<LoadingProject> loading =
        m_reloading ? std::optional(toContinue()) : std::exchange(m_loading, std::nullopt);
    const bool reloaded = std::exchange(m_reloading, false);  // until here, edits are accepted
    m_open = {};
    m_open.model = model;
    m_open.names = names;
    m_open.signatures = signatures;
    m_undo.clear();
    m_layoutOptions.collapsed.clear();
    m_layoutOptions.opened.clear();
    m_latency.restore({});
    if (!reloaded && m_metricProgram) m_job.setMetric(m_metricProgram = std::nullopt);

    if (!reloaded) m_savedData = {};
    const OpenRequest request = std::exchange(m_request, {});
    const ModelChanges changes = loading ? adoptProject(*loading) : ModelChanges{};
    const std::string view = loading ? loading->project.view : std::string();
    QString configError;
    if (request.preprocess) m_open.preprocess = request.preprocess;
    if (request.task) std::tie(m_open.taskData, m_open.task) = std::pair(request.data, *request.task);
    if (!request.config.empty() || request.configure) {
        try {
            QuantizationConfig config = request.config.empty() ? m_open.config : loadConfig(request.config);
            if (request.configure) request.configure(config);
            resolveSkips(*model->graph, config);
            m_open.config = std::move(config);
            if (request.ownConfig && !request.configure) m_open.configPath = request.config;
        } catch (const std::exception& error) {
            configError = QString::fromUtf8(error.what());
        }
    }
    Q_EMIT modelChanged();
    Q_EMIT configChanged();
    Q_EMIT dataChanged();
    Q_EMIT metricProgramChanged();
    Q_EMIT layersChanged();
    Q_EMIT evaluationChanged();
    Q_EMIT selectionChanged();
    Q_EMIT historyChanged();
    Q_EMIT projectChanged();
    if (!view.empty()) Q_EMIT viewLoaded(view);
    // An error stays until the user has read it.
    if (!changes.text.isEmpty()) say(changes.lost ? MessageKind::Error : MessageKind::Note, changes.text);
    if (!configError.isEmpty()) {  // after modelChanged(), which clears the messages about the previous model
        say(MessageKind::Error, configError);
        Q_EMIT failed({Failure::During::Loading, configError});
    }
    layout();
    if (!request.data.empty())
        openData(request.data, request.calibration);
    else
        evaluate();
}

/// Another model replaces this one as soon as it is loaded; edits until then would be lost without a
/// question.
bool Document::isBeingReplaced() {
    if (!m_open.model || m_request.model.empty() || m_reloading) return false;
    say(MessageKind::Note, tr("No changes are possible while %1 is being opened.")
                               .arg(QString::fromStdString(m_request.model.filename().string())));
    return true;
}

bool Document::edit(const ConfigEdit& edit, const std::filesystem::path& file) {
    if (isBeingReplaced()) return false;
    if (!edit.complaint.isEmpty()) {
        say(MessageKind::Note, edit.complaint);
        return false;
    }
    if (edit.next == m_open.config) return true;
    if (m_open.model) {
        try {
            resolveSkips(*m_open.model->graph, edit.next);
        } catch (const std::exception& error) {
            say(MessageKind::Error, QString::fromUtf8(error.what()));
            return false;
        }
    }
    const QString text = withLayerNames(edit.text);
    if (!file.empty()) {
        m_undo.beginMacro(text);
        m_undo.push(new ConfigFileCommand(m_open.configPath, file));
    }
    m_undo.push(new ConfigCommand(m_open.config, edit.next, text, edit.mergeKey,
                                  [this](const QuantizationConfig& config) { setConfig(config); }));
    if (!file.empty()) m_undo.endMacro();
    return true;
}

void Document::setConfig(const QuantizationConfig& config) {
    if (config == m_open.config) return;
    // The reasons and notices of an evaluation contain the numbers of the rules, also of those that are off.
    const bool matters = config.rules != m_open.config.rules ||
                         config.precisionRules != m_open.config.precisionRules ||
                         !haveSameResults(config, m_open.config);
    m_open.config = config;
    Q_EMIT configChanged();
    if (!m_open.model) return;
    if (!matters) {
        if (updateReasons(*m_open.model->graph, m_open.config, m_open.layers)) Q_EMIT layersChanged();
        return;
    }
    guessStates();
    if (!m_manualEvaluation) return evaluate();
    ++m_pendingEdits;
    m_open.accuracyStale = m_open.metricsStale = m_open.evaluation != nullptr;
    // The running evaluation is for an outdated configuration.
    m_open.evaluating ? m_job.cancelEvaluation() : m_job.cancelBackground();
    Q_EMIT evaluationChanged();
    Q_EMIT manualEvaluationChanged();
}

void Document::setManualEvaluation(bool on) {
    if (on == m_manualEvaluation) return;
    m_manualEvaluation = on;
    Q_EMIT manualEvaluationChanged();
    if (!on && m_pendingEdits > 0) evaluate();
}

void Document::guessStates() {
    if (m_open.layers.empty() || !predictStates(*m_open.model->graph, m_open.config, m_open.layers)) return;
    m_open.guessed = true;
    m_open.scales.clear();
    Q_EMIT layersChanged();
}

/// The layers are listed even if the network cannot be evaluated.
void Document::listUnevaluated() {
    if (!m_open.model || !m_open.layers.empty()) return;
    const auto nodes = m_open.model->graph->nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        LayerResult layer;
        layer.node = NodeId(i);
        layer.name = nodes[i].name;
        layer.op = nodes[i].op;
        layer.reason = "the network could not be evaluated";
        m_open.layers.push_back(std::move(layer));
    }
    m_open.scales.clear();
    Q_EMIT layersChanged();
}

void Document::evaluate() {
    if (!m_open.model) return;
    remember(std::exchange(m_open.unfinished, {}));
    m_open.evaluating = true;
    m_open.accuracyStale = m_open.metricsStale = m_open.evaluation != nullptr;
    m_job.evaluate(m_open.config, m_open.evaluation);
    if (std::exchange(m_pendingEdits, 0) > 0) Q_EMIT manualEvaluationChanged();
    Q_EMIT evaluationChanged();
}

void Document::cancel() {
    m_open.readsData = false;
    m_job.cancel();
}

void Document::adoptEvaluation(const ShownEvaluation& shown) {
    if (shown.ownAccuracy) m_open.accuracyStale = false;
    if (shown.evaluation->complete) m_open.metricsStale = false;
    m_open.guessed = false;
    m_open.layers.swap(*shown.layers);
    updateReasons(*m_open.model->graph, m_open.config, m_open.layers);  // comments may have changed meanwhile
    m_open.scales.clear();
    m_open.evaluation = shown.evaluation;
    if (m_open.evaluation->randomInputs) m_open.onRandomInputs.insert(m_open.evaluation->version.hex());
    if (m_open.evaluating && shown.ownAccuracy) m_open.unfinished = measured(m_open.evaluation);
    if (m_pendingEdits > 0) {  // these are the results before the edits
        m_open.accuracyStale = m_open.metricsStale = true;
        guessStates();
    }
    Q_EMIT layersChanged();
    Q_EMIT evaluationChanged();
}

const MetricScale& Document::scale(Metric metric) const {
    const auto known = m_open.scales.find(metric);
    if (known != m_open.scales.end()) return known->second;
    const MetricScale scale = metric == Metric::Latency ? scaleOf(m_latency.valuesOf(m_open.layers), metric)
                                                        : scaleOf(m_open.layers, metric);
    return m_open.scales.emplace(metric, scale).first->second;
}

void Document::toggleSelection() {
    if (!m_open.model || m_open.selection.empty()) return;
    try {
        edit(toggleLayers(*m_open.model->graph, m_open.config, m_open.layers, m_open.selection));
    } catch (const std::exception& error) {
        say(MessageKind::Error, QString::fromUtf8(error.what()));
    }
}

void Document::setLayoutOptions(const LayoutOptions& options) {
    if (options == m_layoutOptions) return;
    m_layoutOptions = options;
    if (m_open.model) layout();
}

void Document::layout() {
    LayoutOptions options = m_layoutOptions;
    options.viewWidth = m_roomWidth, options.viewHeight = m_roomHeight;
    m_layoutJob.layout(m_open.model->graph, options);
}

void Document::setBackgroundEvaluation(bool on) {
    m_backgroundEvaluation = on;
    waitForIdle();
}

void Document::setQuiet(bool quiet) {
    m_quiet = std::max(0, m_quiet + (quiet ? 1 : -1));
    if (quiet) m_job.cancelBackground();
    waitForIdle();
}

void Document::waitForIdle() {
    if ((m_backgroundEvaluation || m_reference.missing()) && m_open.evaluation && m_open.evaluation->complete)
        m_idle.start();
}

/// The baseline of an opened project has priority over learning to predict edits.
void Document::doIdleWork() {
    if (!m_open.model || m_job.busy() || m_quiet > 0 || m_pendingEdits > 0) return;
    if (const auto baseline = m_reference.missing())
        m_job.evaluateInBackground(
            *baseline, [this, version = m_open.history.baseline()](const EvaluationPtr& evaluation) {
                m_reference.adoptBaseline(version, evaluation);
                waitForIdle();
            });
    else if (m_backgroundEvaluation)
        m_job.measureInBackground(m_open.config);
}

}  // namespace quantloupe::ui
