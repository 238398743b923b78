// SPDX-License-Identifier: Apache-2.0
#pragma once
// The only bridge to the engine's session: requests go to its thread, results come back as signals on the GUI
// thread.
//
// Loading, data and exports are queued. Evaluations are latest-wins: a new one cancels the previous one, and
// results with an older generation number are dropped. Replacing a model destroys its session.

#include <QElapsedTimer>
#include <QImage>
#include <QList>
#include <QObject>
#include <QString>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/user_metric.h"
#include "data/preprocess.h"
#include "data/task_settings.h"
#include "jobs/carried_numbers.h"
#include "jobs/job_queue.h"
#include "jobs/query_slot.h"
#include "jobs/worker_thread.h"
#include "model/layer_names.h"
#include "session/caches/layer_signature.h"
#include "session/session.h"

namespace quantloupe::ui {

using ModelPtr = std::shared_ptr<const LoadedModel>;

/// What the samples of the data are called; None: there is no data.
enum class DataKind { None, Images, Samples };

struct DataInfo {
    std::filesystem::path evaluationPath, calibrationPath;
    QString description, calibrationDescription;  ///< "1,000 images in 10 classes"
    QString notice;
    QList<QImage> thumbnails;
    /// The first images as the network receives them, from the smallest value (black) to the largest (white),
    /// and the range of all values.
    QList<QImage> networkViews;
    QString networkSpan;                            ///< "−2.12 to 2.64"
    Preprocess preprocess;                          ///< preprocessing that is used
    std::optional<Preprocess> requestedPreprocess;  ///< empty: that of the file next to the model
    TaskSettings task;  ///< the labels; the task is never Automatic if there are labels
    TaskSettings requestedTask;
    std::size_t samples = 0;
    bool labels = false;
};

/// A failed request, with the engine's message.
struct Failure {
    enum class During { Loading, Data, Evaluation, Export };
    During during = During::Evaluation;
    QString text;
};

class EvaluationJob : public QObject {
    Q_OBJECT
  public:
    explicit EvaluationJob(QObject* parent = nullptr);
    ~EvaluationJob() override;

    void loadModel(const std::filesystem::path& path);
    /// With an empty calibration path, half of the data is used for calibration. Without `preprocess`, images
    /// are converted to inputs as in the file next to the model. `task`: labels of the evaluation data.
    void openData(const std::filesystem::path& evaluation, const std::filesystem::path& calibration,
                  const std::optional<Preprocess>& preprocess = std::nullopt, const TaskSettings& task = {});
    /// Later evaluations on data also run this program (Session::setMetric()); empty: none.
    void setMetric(const std::optional<MetricProgram>& metric);
    /// Values that are not known yet are taken from `before` (null: shown as unknown).
    void evaluate(const QuantizationConfig& config, const EvaluationPtr& before = nullptr);
    /// When idle, evaluates the effect of each layer on accuracy and learns to predict effects
    /// (Session::measureInBackground), then evaluates again so that the results contain the new values. Any
    /// other request ends it at once. Reports neither progress nor errors.
    void measureInBackground(const QuantizationConfig& config);
    /// When idle, evaluates another configuration without keeping anything for edits of the current one.
    /// Cancelled like measureInBackground(), silently; null if it fails. Only one of the two runs at a time.
    void evaluateInBackground(const QuantizationConfig& config, std::function<void(EvaluationPtr)> then);
    /// Cancels both.
    void cancelBackground() { m_backgroundToken.cancel(); }
    /// Runs `work` on the engine's thread after the queued work; exported() reports its text. Returns the
    /// token for cancelExport().
    CancelToken runExport(const QString& what, std::function<QString(Session&, const CancelToken&)> work);
    /// Queries the session for something besides evaluations, such as details of a layer or the images whose
    /// class changed. `work` runs on the engine's thread; the function that it returns runs on this one. A
    /// later query in the same slot and every evaluation cancel it silently: ask again after the evaluation.
    /// `refused` receives the engine's message on failure.
    using Query = std::function<std::function<void()>(Session&, const CancelToken&)>;
    void query(QuerySlot slot, Query work, std::function<void(QString)> refused = {});
    /// Drops the query of the slot.
    void dropQuery(QuerySlot slot);
    /// Cancels an export without a message.
    void cancelExport(const CancelToken& token);
    /// Cancels the evaluation and the queries, and ends the pause.
    void cancelEvaluation();
    /// Also cancels the exports and the opening of data, which then fails.
    void cancel();
    /// While paused, evaluations stop between two batches and later continue from there; new requests wait,
    /// too. Opening a model ends the pause.
    void setPaused(bool paused);
    bool paused() const { return m_gate->closed(); }
    /// Total time since this object was created.
    double pausedSeconds() const { return m_gate->closedSeconds(); }
    /// The running work, followed by the waiting work.
    std::vector<QueuedWork> queue() const { return m_queue.works(); }

    bool busy() const { return m_open > 0; }
    /// A token for work on other threads that pauses with the evaluations.
    CancelToken pausable() const { return CancelToken(m_gate); }

  Q_SIGNALS:
    /// Includes the signatures that identify the layers after a reload (layer_signature.h), and their display
    /// names.
    void modelLoaded(quantloupe::ui::ModelPtr model, std::vector<quantloupe::LayerSignature> signatures,
                     quantloupe::LayerNames names);
    void dataOpened(quantloupe::ui::DataInfo info);
    /// Snapshots; the last one of an evaluation comes with evaluationFinished.
    void evaluated(quantloupe::EvaluationPtr evaluation, quantloupe::ui::ShownEvaluation shown);
    void evaluationFinished(quantloupe::EvaluationPtr evaluation, double seconds);
    void evaluationCancelled();
    void progressed(QString stage, std::size_t done, std::size_t total);
    /// The progress of measureInBackground(); the displayed results stay usable meanwhile.
    void backgroundProgressed(QString stage, std::size_t done, std::size_t total);
    void exported(QString text);
    void exportsCancelled(QStringList exports);  ///< by cancel() or by opening a model
    void failed(quantloupe::ui::Failure failure);
    void busyChanged(bool busy);
    void queriesFinished();  ///< no queries are left
    void queueChanged();
    void pausedChanged(bool paused);
    /// Other work has cancelled the queries, which can be asked again afterwards, or cancelEvaluation() has.
    void queriesDropped(bool byOtherWork);

  private:
    struct State;  ///< used only by the engine's thread
    void begin();
    void end();
    template <typename Work>
    void post(Failure::During during, QueuedWork::Kind kind, const QString& what, const CancelToken& token,
              Work work);
    /// Adds a task, which is listed until it has run.
    void enqueue(QueuedWork::Kind kind, const QString& what, const CancelToken& token,
                 std::function<void()> task, std::optional<QuerySlot> slot = {});
    void dropQueries(bool byOtherWork);

    WorkerThread m_thread;
    std::shared_ptr<State> m_state;
    std::shared_ptr<PauseGate> m_gate = std::make_shared<PauseGate>();
    JobQueue m_queue;
    CancelToken m_evaluationToken, m_loadToken, m_dataToken;
    CancelToken m_backgroundToken;               ///< of evaluations while idle
    std::map<QuerySlot, CancelToken> m_queries;  ///< unanswered queries
    quint64 m_generation = 0;
    quint64 m_dataRequest = 0;  ///< also counts models, which replace the data
    quint64 m_model = 0;        ///< the number of models that were loaded
    int m_open = 0;             ///< unanswered requests
};

}  // namespace quantloupe::ui
