// SPDX-License-Identifier: Apache-2.0
#pragma once
// The document of a window: a model, its data, the configuration with its history, the selection, and the
// latest results. All views observe the document and make their changes through it. GUI thread.
//
// After an edit, the states are predicted at once from the rules (config/skip_rules.h), so that the graph
// changes color before the engine has finished; its snapshots then replace the prediction. Earlier numbers
// are kept until newer ones arrive; accuracyStale() and metricsStale() return whether they are outdated.

#include <QObject>
#include <QUndoStack>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/input_paths.h"
#include "commands/config_edits.h"
#include "config/presets.h"
#include "config/quantization_config.h"
#include "document/evaluation_history.h"
#include "document/layer_latency.h"
#include "document/layer_reference.h"
#include "document/metric.h"
#include "jobs/evaluation_job.h"
#include "jobs/layout_job.h"
#include "jobs/pending_work.h"
#include "results/evaluation.h"

namespace quantloupe::ui {

struct OpenRequest {
    std::filesystem::path model;              ///< or a project, which refers to its model
    std::filesystem::path data, calibration;  ///< may be empty
    std::filesystem::path config;             ///< may be empty
    bool ownConfig = true;  ///< false: the configuration is a template, saving asks for a name
    /// The model is a recovery copy of this project; empty path: of a project that was never saved.
    std::optional<std::filesystem::path> recoveredFor = std::nullopt;
    /// Changes the configuration that was opened; empty: it stays as it is.
    std::function<void(QuantizationConfig&)> configure{};
    /// Empty: the preprocessing of the project, or of the file next to the model.
    std::optional<Preprocess> preprocess = std::nullopt;
    std::optional<TaskSettings> task = std::nullopt;  ///< empty: those of the project, or no labels
};

inline constexpr const char* kProjectSuffix = ".quantloupe";
bool isProjectFile(const std::filesystem::path& path);

enum class MessageKind { Note, Error };

class Document : public QObject {
    Q_OBJECT
  public:
    explicit Document(QObject* parent = nullptr);
    ~Document() override;

    // Contents.
    bool hasModel() const { return m_open.model != nullptr; }
    const LoadedModel* model() const { return m_open.model.get(); }
    GraphPtr graph() const { return m_open.model ? m_open.model->graph : nullptr; }
    /// The display names of the layers, which are shown in all views.
    const LayerNames& names() const { return m_open.names; }
    QString layerName(NodeId node) const { return QString::fromStdString(m_open.names.of(node)); }
    QString layerName(const std::string& fullName) const {
        return QString::fromStdString(m_open.names.of(fullName));
    }
    /// Replaces full layer names in a text of the engine by display names.
    QString withLayerNames(const QString& text) const;
    QString title() const;
    const QuantizationConfig& config() const { return m_open.config; }
    const std::optional<DataInfo>& data() const { return m_open.data; }
    DataKind dataKind() const;
    /// The open data or, if it could not be opened, the requested data; empty: none.
    std::filesystem::path dataPath() const;
    std::filesystem::path calibrationPath() const;
    PicturePtr picture() const { return m_open.picture; }
    QUndoStack* undoStack() { return &m_undo; }

    // Results.
    /// The newest snapshot, possibly of the configuration before the last edit; null before the first one.
    EvaluationPtr evaluation() const { return m_open.evaluation; }
    /// One result per node of the graph, with the states of the current configuration; empty before the first
    /// evaluation.
    const std::vector<LayerResult>& layers() const { return m_open.layers; }
    const LayerResult* layer(NodeId node) const;
    /// The default scale of the layers' values, without changes by the user.
    const MetricScale& scale(Metric metric) const;
    /// Whether the accuracy effect of each layer is evaluated in the background when idle. Off by default.
    void setBackgroundEvaluation(bool on);
    bool accuracyStale() const { return m_open.accuracyStale; }
    bool metricsStale() const { return m_open.metricsStale; }
    /// "evaluating…", or "out of date" if new values are not on their way.
    QString staleWord() const { return m_open.evaluating ? tr("evaluating\u2026") : tr("out of date"); }
    bool evaluating() const { return m_open.evaluating; }

    // Selection, shared by graph, table and inspector.
    const std::vector<NodeId>& selection() const { return m_open.selection; }
    bool isSelected(NodeId node) const;
    NodeId current() const { return m_open.current; }  ///< shown in the inspector
    void select(std::vector<NodeId> nodes, NodeId current);
    void select(NodeId node) { select(node.valid() ? std::vector{node} : std::vector<NodeId>{}, node); }

    // Actions.
    void open(const OpenRequest& request);
    /// Reads the model file again and applies configuration, history, data and view state to the layers that
    /// still exist. Clears the undo stack. Changes nothing on an error.
    void reload();
    /// While a model is being loaded, the data is opened with this model.
    void openData(const std::filesystem::path& evaluation, const std::filesystem::path& calibration = {});
    /// Opens other evaluation data with the same calibration data, unless these no longer exist.
    void openEvaluationData(const std::filesystem::path& evaluation);
    /// Returns the preprocessing of images: the one set in the window, the one used for the open data, or the
    /// one in the file next to the model. Throws Error if that file cannot be read.
    Preprocess preprocess() const;
    /// Reads the data again with this preprocessing, as one undo step; it is saved in the project. Empty: the
    /// file next to the model is used.
    void setPreprocess(const std::optional<Preprocess>& preprocess);
    /// Labels and decoder of the open evaluation data.
    const TaskSettings& task() const { return m_open.task; }
    /// Reads the data again with these labels, as one undo step; they are saved in the project.
    void setTask(const TaskSettings& task);
    /// The user's program that computes a metric in every evaluation on data, which leave-one-out,
    /// suggestions and searches then use instead of the accuracy; empty: none. It belongs to the open model
    /// and is not saved: opening a project must not run a program.
    const std::optional<MetricProgram>& metricProgram() const { return m_metricProgram; }
    void setMetricProgram(const std::optional<MetricProgram>& program);
    /// The metric of which leave-one-out is a gain, also while the values of the last evaluation are shown.
    TaskMetric gainMetric() const {
        return m_metricProgram ? TaskMetric::User : gainMetricOf(m_open.evaluation.get());
    }
    bool hasOwnPreprocess() const { return m_open.preprocess.has_value(); }
    std::filesystem::path preprocessFile() const;  ///< NAME.preprocess.json next to the model; may not exist
    /// Reads a configuration and makes it current, as one undo step.
    bool openConfig(const std::filesystem::path& path);
    bool saveConfig(const std::filesystem::path& path);
    /// Makes text that the user is typing part of the document. To be called before unsaved changes are
    /// looked for; saving and reloading call it.
    void takeTypedText() { Q_EMIT typedTextWanted(); }
    const std::filesystem::path& configPath() const { return m_open.configPath; }
    /// Whether the entry of the history was evaluated on the open model and data, so that its numbers can be
    /// compared with the current ones.
    bool isComparable(const MeasuredConfig& entry) const;
    /// Whether saving the configuration to its file would leave no unsaved changes.
    bool configHasAllChanges() const {
        return m_open.projectPath.empty() && !m_open.configPath.empty() && !m_open.onlyInProject;
    }
    /// To be called after a change that is part of the project, but not of the undo stack: it counts as
    /// unsaved.
    void markProjectChanged();
    /// Applies the edit as one undo step and evaluates it. Returns false and shows a message if the rules are
    /// invalid. `file`: the configuration is now that of this file, until the step is undone.
    bool edit(const ConfigEdit& edit, const std::filesystem::path& file = {});
    void toggleSelection();

    /// The model and data files, which no saved file may overwrite.
    InputPaths openedPaths() const;
    /// Files that an export must not overwrite: also the configuration, the project and the preprocessing
    /// file.
    InputPaths inputPaths() const;

    // The project and the history.
    const std::filesystem::path& projectPath() const { return m_open.projectPath; }  ///< empty: not saved yet
    /// Returns the project as it would be saved now.
    Project project() const;
    bool saveProject(const std::filesystem::path& path);
    /// Whether another window or program has written the project since it was read or written here.
    bool projectWrittenElsewhere() const;
    const EvaluationHistory& history() const { return m_open.history; }
    /// Makes this configuration current again, as one undo step.
    void goBackTo(std::size_t index);
    /// Pins this configuration as the baseline, or unpins it.
    void pinBaseline(std::size_t index);
    /// Sets the user's name and note of an evaluated configuration.
    void describeMeasured(std::size_t index, const QString& name, const QString& note);
    /// The layers of the baseline or, without one, of the previously evaluated configuration.
    const LayerReference& reference() const { return m_reference; }
    /// The latency profiles, and the time of each layer.
    LayerLatency& latency() { return m_latency; }
    const LayerLatency& latency() const { return m_latency; }
    /// Stops background evaluation, which would disturb latency measurements and searches, until there were
    /// as many calls with false as with true.
    void setQuiet(bool quiet);
    /// Sets the function that returns the window's view state for the project, as a JSON object; viewLoaded()
    /// passes it back.
    void setViewCollector(std::function<std::string()> collect) { m_collectView = std::move(collect); }

    void evaluate();
    void cancel();
    /// Manual evaluation: edits are not evaluated until evaluate() is called or this is turned off. Layer
    /// states are still updated at once.
    void setManualEvaluation(bool on);
    bool manualEvaluation() const { return m_manualEvaluation; }
    int pendingEdits() const { return m_pendingEdits; }  ///< since the last evaluation
    void setLayoutOptions(const LayoutOptions& options);
    const LayoutOptions& layoutOptions() const { return m_layoutOptions; }
    /// Sets the size of the view that later layouts have to fit, in scene units at actual size.
    void setLayoutRoom(double width, double height) { m_roomWidth = width, m_roomHeight = height; }
    EvaluationJob* job() { return &m_job; }
    /// Shows a message in which full layer names are replaced by display names.
    void say(MessageKind kind, const QString& text) { Q_EMIT message(kind, withLayerNames(text)); }

  Q_SIGNALS:
    void modelChanged();
    void reloading();  ///< the model's file is being read again
    void pictureChanged();
    void configChanged();
    void dataChanged();
    void metricProgramChanged();
    void layersChanged();      ///< states or numbers; evaluationChanged() follows
    void evaluationChanged();  ///< counts, accuracies, or whether they are stale
    void evaluationFinished(double seconds);
    void selectionChanged();
    void historyChanged();
    void projectChanged();  ///< path of the project
    void projectEdited();   ///< something that only a project contains
    void manualEvaluationChanged();
    void viewLoaded(std::string json);
    void typedTextWanted();                             ///< see takeTypedText()
    void exportStarted(QString name, QString command);  ///< file name; equivalent command line, empty: none
    void message(quantloupe::ui::MessageKind kind, QString text);
    void failed(quantloupe::ui::Failure failure);

  private:
    struct LoadingProject {
        Project project;
        std::filesystem::path saveTo;
        bool unsaved = false;               ///< the document has unsaved changes from the start
        std::filesystem::path config = {};  ///< the file that the configuration is saved to; empty: none yet
        bool reloaded = false;              ///< no project was opened; the same document continues
        bool onlyInProject = false;         ///< see OpenModel
        bool modelMoved = false;            ///< the model was found next to the project
    };
    static LoadingProject readProject(OpenRequest& request);
    LoadingProject toContinue();
    /// How the model differs from that of a project.
    struct ModelChanges {
        QString text;       ///< empty: not at all
        bool lost = false;  ///< some settings or layers are gone
    };
    ModelChanges adoptProject(LoadingProject& loading);
    QString changeSinceMeasured() const;
    std::optional<MeasuredConfig> measured(const EvaluationPtr& evaluation);
    /// Adds it to the history, if there is one.
    void remember(std::optional<MeasuredConfig> measured);
    void adoptPreprocess(const std::optional<Preprocess>& preprocess, bool byCommand);
    void adoptTask(const TaskSettings& task, bool byCommand);
    void adoptModel(const ModelPtr& model, const std::vector<LayerSignature>& signatures,
                    const LayerNames& names);
    void adoptConfigPath(const std::filesystem::path& path);
    void readData(const std::filesystem::path& evaluation, const std::filesystem::path& calibration);
    void adoptData(const DataInfo& info);
    void keepData();
    bool isBeingReplaced();
    void adoptEvaluation(const ShownEvaluation& shown);
    void waitForIdle();
    void doIdleWork();
    void setConfig(const QuantizationConfig& config);
    void guessStates();
    void listUnevaluated();
    void layout();

    /// Everything that belongs to the open model: opening another one replaces all of it.
    struct OpenModel {
        ModelPtr model;
        LayerNames names;
        std::vector<LayerSignature> signatures;  ///< of its layers
        PicturePtr picture;
        QuantizationConfig config = presetConfig("default");
        std::filesystem::path configPath;
        std::filesystem::path projectPath;
        bool onlyInProject = false;  ///< something is unsaved that a configuration file does not contain
        std::optional<DataInfo> data;
        /// requested paths, which may not exist
        std::pair<std::filesystem::path, std::filesystem::path> dataWanted;
        bool readsData = false;            ///< dataWanted is being read
        bool readsForCommand = false;      ///< because of a command of the undo stack
        QUndoCommand* dataEdit = nullptr;  ///< on the stack, until its data are read; null if there is none
        std::optional<Preprocess> preprocess;  ///< of the project; empty: the file next to the model is used
        TaskSettings task;
        std::filesystem::path taskData;  ///< the evaluation data that `task` belongs to
        EvaluationPtr evaluation;
        std::vector<LayerResult> layers;
        mutable std::map<Metric, MetricScale> scales;  ///< of `layers`, computed on demand
        bool guessed = false;  ///< states of `layers` are predicted and not yet evaluated
        bool accuracyStale = false, metricsStale = false, evaluating = false;
        std::vector<NodeId> selection;
        NodeId current;
        EvaluationHistory history;
        std::set<std::string> onRandomInputs;  ///< versions in the history measured on random inputs
        /// The accuracy of the running evaluation if it is known, but not yet the metrics of the layers.
        std::optional<MeasuredConfig> unfinished;
        int unfinishedIndex = 0;  ///< position of `unfinished` in the undo stack
        int measuredIndex = 0;    ///< position of the last configuration in the history
    };

    EvaluationJob m_job;
    LayoutJob m_layoutJob;
    LayoutOptions m_layoutOptions;
    double m_roomWidth = 0, m_roomHeight = 0;
    OpenModel m_open;
    QUndoStack m_undo;
    bool m_backgroundEvaluation = false, m_manualEvaluation = false;
    int m_quiet = 0;  ///< number of reasons to evaluate nothing in the background
    int m_pendingEdits = 0;
    Delay m_idle{500};      ///< while the user is editing, nothing is evaluated in the background
    OpenRequest m_request;  ///< further steps once the model is loaded
    std::optional<LoadingProject> m_loading;
    bool m_reloading = false;  ///< the model that is being loaded is that of the document
    /// evaluation and calibration data in the project file
    std::pair<std::filesystem::path, std::filesystem::path> m_savedData;
    std::optional<Preprocess> m_savedPreprocess;  ///< in the project's file
    /// Time and size of the project's file when it was read or written here.
    std::optional<std::pair<std::filesystem::file_time_type, std::uintmax_t>> m_savedFile;
    std::optional<MetricProgram> m_metricProgram;
    LayerReference m_reference{this};
    LayerLatency m_latency{this};
    std::function<std::string()> m_collectView;
};

}  // namespace quantloupe::ui
