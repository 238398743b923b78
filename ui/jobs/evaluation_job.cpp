// SPDX-License-Identifier: Apache-2.0
#include "jobs/evaluation_job.h"

#include <QImageReader>

#include "base/error.h"
#include "data/dataset.h"
#include "data/preprocess.h"
#include "jobs/evaluation_job_state.h"
#include "jobs/freed_in_background.h"
#include "jobs/network_view.h"
#include "jobs/session_data.h"
#include "style/path_text.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

constexpr std::size_t kThumbnails = 6;
constexpr int kThumbnailPixels = 96;

QList<QImage> thumbnailsOf(const Dataset& data, const std::filesystem::path& folder) {
    QList<QImage> images;
    for (const std::size_t index : spreadEvenly(data.size(), kThumbnails)) {
        QImageReader reader(pathText(folder / data.sampleName(index)));
        if (!reader.canRead()) continue;
        const QSize size = reader.size();
        if (size.width() > kThumbnailPixels || size.height() > kThumbnailPixels)
            reader.setScaledSize(
                size.scaled(kThumbnailPixels, kThumbnailPixels, Qt::KeepAspectRatioByExpanding));
        const QImage image = reader.read();
        if (!image.isNull()) images.append(image);
    }
    return images;
}

DataInfo openDataOn(Session& session, const std::filesystem::path& evaluation,
                    const std::filesystem::path& calibration, const std::optional<Preprocess>& wanted,
                    const TaskSettings& task, const CancelToken& cancel) {
    const auto beside = preprocessBeside(session.model().path);
    const Preprocess preprocess = wanted ? *wanted : beside ? loadPreprocess(*beside) : Preprocess{};
    const auto [data, calibrationData] =
        openSessionData(session, evaluation, calibration, preprocess, task, cancel);
    DataInfo info;
    // First, because the data in use stays if a sample cannot be read.
    info.thumbnails = thumbnailsOf(*data, evaluation);
    if (!info.thumbnails.isEmpty()) std::tie(info.networkViews, info.networkSpan) = networkViews(*data);
    cancel.check();
    session.setData(data, calibrationData);
    info.evaluationPath = evaluation;
    info.calibrationPath = calibration;
    info.description = QString::fromStdString(data->description());
    if (calibrationData) info.calibrationDescription = QString::fromStdString(calibrationData->description());
    info.notice = QString::fromStdString(session.dataNotice());
    info.samples = data->size();
    info.labels = data->hasLabels();
    info.preprocess = preprocess;
    info.requestedPreprocess = wanted;
    info.task = info.requestedTask = task;
    if (session.task() != Task::Automatic) info.task.task = session.task();
    if (!wanted && !beside && !info.thumbnails.isEmpty()) {
        if (!info.notice.isEmpty()) info.notice += QStringLiteral(". ");
        info.notice +=
            Words::tr("No preprocess.json was found next to the model: pixels are scaled to 0\u20131");
    }
    return info;
}

void useMetric(Session& session, const std::optional<MetricProgram>& metric) {
    session.setMetric(metric ? std::optional(programMetric(*metric)) : std::nullopt);
}

/// Without data, random inputs are used for SQNR and sensitivities; for some networks none can be generated.
bool dataForEvaluation(Session& session) {
    if (session.hasData()) return true;
    try {
        session.useRandomInputs();
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

EvaluationJob::EvaluationJob(QObject* parent)
    : QObject(parent), m_thread(QStringLiteral("engine")), m_state(std::make_shared<State>()) {}

EvaluationJob::~EvaluationJob() {
    disconnect();  // receivers may be partly destroyed
    cancel();
    m_loadToken.cancel();
    m_dataToken.cancel();
    // The session is destroyed by the thread that used it.
    m_thread.post([state = m_state] { state->session.reset(); });
    m_thread.stop();
}

void EvaluationJob::begin() {
    m_backgroundToken.cancel();
    dropQueries(true);
    if (m_open++ == 0) Q_EMIT busyChanged(true);
}

void EvaluationJob::end() {
    if (--m_open == 0) Q_EMIT busyChanged(false);
}

void EvaluationJob::enqueue(QueuedWork::Kind kind, const QString& what, const CancelToken& token,
                            std::function<void()> task, std::optional<QuerySlot> slot) {
    const quint64 id = m_queue.add(kind, what, token, slot);
    m_thread.post([this, id, task = std::move(task)] {
        m_thread.reply([this, id] {
            m_queue.start(id);
            Q_EMIT queueChanged();
        });
        task();
        m_thread.reply([this, id] {
            m_queue.finish(id);
            Q_EMIT queueChanged();
        });
    });
    Q_EMIT queueChanged();
}

/// Runs `work` on the engine's thread, then the function that it returns on this one.
template <typename Work>
void EvaluationJob::post(Failure::During during, QueuedWork::Kind kind, const QString& what,
                         const CancelToken& token, Work work) {
    begin();
    enqueue(kind, what, token, [this, during, token, state = m_state, task = std::move(work)] {
        std::function<void()> after;
        try {
            after = task(*state);
        } catch (const Cancelled&) {
        } catch (const std::exception& error) {
            const QString text = QString::fromUtf8(error.what());
            after = [this, during, text, token] {
                if (!token.cancelled()) Q_EMIT failed({during, text});
            };
        }
        m_thread.reply([this, after = std::move(after)] {
            if (after) after();
            end();
        });
    });
}

void EvaluationJob::loadModel(const std::filesystem::path& path) {
    cancel();
    ++m_generation;  // results that still arrive belong to the previous model
    ++m_dataRequest;
    m_loadToken.cancel();
    m_loadToken = CancelToken();
    const CancelToken token = m_loadToken;
    post(Failure::During::Loading, QueuedWork::Kind::Loading, {}, token,
         [this, path, token](State&) -> std::function<void()> {
             token.check();
             auto model = freedInBackground(std::make_shared<const LoadedModel>(quantloupe::loadModel(path)));
             token.check();
             auto session = std::make_shared<std::unique_ptr<Session>>(std::make_unique<Session>(*model));
             return [this, model, session, token, signatures = layerSignatures(*model->graph),
                     names = LayerNames(model->graph)] {
                 if (token.cancelled()) return;  // another model was requested meanwhile
                 // Up to here the session belonged to the displayed model.
                 ++m_model;
                 m_thread.post([state = m_state, session] {
                     std::swap(state->session, *session);
                     session->reset();
                 });
                 Q_EMIT modelLoaded(model, signatures, names);
             };
         });
}

void EvaluationJob::openData(const std::filesystem::path& evaluation,
                             const std::filesystem::path& calibration,
                             const std::optional<Preprocess>& preprocess, const TaskSettings& task) {
    m_evaluationToken.cancel();
    m_dataToken.cancel();
    m_dataToken = CancelToken();
    ++m_generation;
    const quint64 request = ++m_dataRequest;
    post(Failure::During::Data, QueuedWork::Kind::Data, {}, CancelToken(),
         [this, model = m_model, request, token = m_dataToken, evaluation, calibration, preprocess,
          task](State& state) -> std::function<void()> {
             if (!state.session) return {};
             DataInfo info;
             try {
                 info = openDataOn(*state.session, evaluation, calibration, preprocess, task, token);
                 useMetric(*state.session, state.metric);
             } catch (const Cancelled&) {
                 return [this, request] {
                     if (request == m_dataRequest)  // otherwise other data, or a model, were requested
                         Q_EMIT failed({Failure::During::Data, Words::tr("Opening the data was cancelled")});
                 };
             }
             return [this, model, info = std::move(info)] {
                 if (model == m_model) Q_EMIT dataOpened(info);  // otherwise its session is gone
             };
         });
}

void EvaluationJob::setMetric(const std::optional<MetricProgram>& metric) {
    begin();
    m_thread.post([this, state = m_state, metric] {
        state->metric = metric;
        if (state->session && state->session->hasData() && !state->session->randomInputs())
            useMetric(*state->session, metric);
        m_thread.reply([this] { end(); });
    });
}

void EvaluationJob::evaluate(const QuantizationConfig& config, const EvaluationPtr& before) {
    m_evaluationToken.cancel();
    m_evaluationToken = pausable();
    const CancelToken token = m_evaluationToken;
    const quint64 generation = ++m_generation;
    QElapsedTimer clock;
    clock.start();
    const double pausedBefore = pausedSeconds();

    EvaluationObserver observer;
    observer.updated = [this, generation, before](EvaluationPtr evaluation) {
        m_thread.reply([this, generation, shown = withNumbersOf(before, std::move(evaluation))] {
            if (generation == m_generation) Q_EMIT evaluated(shown.evaluation, shown);
        });
    };
    auto throttle = std::make_shared<QElapsedTimer>();
    observer.progress = [this, generation, throttle](const Progress& progress) {
        if (throttle->isValid() && throttle->elapsed() < 30 && progress.done != progress.total) return;
        throttle->start();
        m_thread.reply([this, generation, progress] {
            if (generation == m_generation)
                Q_EMIT progressed(QString::fromStdString(progress.stage), progress.done, progress.total);
        });
    };
    begin();
    enqueue(QueuedWork::Kind::Evaluation, {}, token,
            [this, state = m_state, gate = m_gate, config, observer, token, generation, clock, pausedBefore] {
                std::function<void()> after;
                try {
                    token.check();
                    if (state->session) {
                        const Depth depth =
                            dataForEvaluation(*state->session) ? Depth::Metrics : Depth::States;
                        EvaluationPtr last = state->session->evaluate(config, depth, observer, token);
                        const double seconds = static_cast<double>(clock.nsecsElapsed()) / 1e9 -
                                               (gate->closedSeconds() - pausedBefore);
                        after = [this, last = std::move(last), seconds] {
                            Q_EMIT evaluationFinished(last, seconds);
                        };
                    }
                } catch (const Cancelled&) {
                    after = [this] { Q_EMIT evaluationCancelled(); };
                } catch (const std::exception& error) {
                    const QString text = QString::fromUtf8(error.what());
                    after = [this, text] { Q_EMIT failed({Failure::During::Evaluation, text}); };
                }
                m_thread.reply([this, generation, after = std::move(after)] {
                    if (after && generation == m_generation) after();
                    end();
                });
            });
}

void EvaluationJob::measureInBackground(const QuantizationConfig& config) {
    m_backgroundToken.cancel();
    m_backgroundToken = pausable();
    const CancelToken token = m_backgroundToken;
    const quint64 generation = m_generation;
    enqueue(QueuedWork::Kind::Background, {}, token, [this, state = m_state, config, token, generation] {
        try {
            token.check();
            if (!state->session || !state->session->hasData() || state->session->randomInputs()) return;
            EvaluationObserver observer;
            observer.progress = [this, generation](const Progress& progress) {
                m_thread.reply([this, generation, progress] {
                    if (generation == m_generation)
                        Q_EMIT backgroundProgressed(QString::fromStdString(progress.stage), progress.done,
                                                    progress.total);
                });
            };
            observer.updated = [this, generation, token](EvaluationPtr evaluation) {
                m_thread.reply(
                    [this, generation, token, shown = withNumbersOf(nullptr, std::move(evaluation))] {
                        if (generation == m_generation && !token.cancelled())
                            Q_EMIT evaluated(shown.evaluation, shown);
                    });
            };
            constexpr std::size_t kEdits = 40;
            for (const std::size_t edits :
                 {std::size_t{0}, kEdits}) {  // the effect of each layer is shown first
                state->session->measureInBackground(config, edits, observer, token);
                observer.updated(state->session->evaluate(config, Depth::Metrics, {}, token));
            }
        } catch (const std::exception&) {
            // Cancelled, or an error that the evaluation has already reported.
        }
    });
}

void EvaluationJob::evaluateInBackground(const QuantizationConfig& config,
                                         std::function<void(EvaluationPtr)> then) {
    m_backgroundToken.cancel();
    m_backgroundToken = pausable();
    const CancelToken token = m_backgroundToken;
    const quint64 generation = m_generation;
    enqueue(QueuedWork::Kind::Baseline, {}, token,
            [this, state = m_state, config, token, generation, then = std::move(then)] {
                EvaluationPtr evaluation;
                try {
                    token.check();
                    if (!state->session) return;
                    const Depth depth = dataForEvaluation(*state->session) ? Depth::Metrics : Depth::States;
                    evaluation = state->session->experiment(config, depth, token);
                } catch (const Cancelled&) {
                    return;
                } catch (const std::exception&) {
                    // Going back to this configuration shows the reason.
                }
                m_thread.reply([this, generation, then, evaluation] {
                    if (generation == m_generation) then(evaluation);
                });
            });
}

CancelToken EvaluationJob::runExport(const QString& what,
                                     std::function<QString(Session&, const CancelToken&)> work) {
    CancelToken token = pausable();
    post(Failure::During::Export, QueuedWork::Kind::Export, what, token,
         [this, what, token, work = std::move(work)](State& state) -> std::function<void()> {
             token.check();
             if (!state.session) fail(ErrorKind::BadInput, "there is no model to export");
             try {
                 const QString text = work(*state.session, token);
                 return [this, text] { Q_EMIT exported(text); };
             } catch (Error& error) {
                 throw error.addContext(what.toStdString());
             }
         });
    return token;
}

void EvaluationJob::cancelExport(const CancelToken& token) {
    token.cancel();
    Q_EMIT queueChanged();
}

void EvaluationJob::cancelEvaluation() {
    m_backgroundToken.cancel();
    dropQueries(false);
    m_evaluationToken.cancel();
    setPaused(false);  // otherwise the next request would wait
    Q_EMIT queueChanged();
}

void EvaluationJob::cancel() {
    m_dataToken.cancel();
    const QStringList exports = m_queue.cancel(QueuedWork::Kind::Export);
    cancelEvaluation();
    if (!exports.isEmpty()) Q_EMIT exportsCancelled(exports);
}

void EvaluationJob::setPaused(bool paused) {
    if (paused == m_gate->closed()) return;
    paused ? m_gate->close() : m_gate->open();
    Q_EMIT pausedChanged(paused);
}

}  // namespace quantloupe::ui
