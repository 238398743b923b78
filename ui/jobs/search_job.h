// SPDX-License-Identifier: Apache-2.0
#pragma once
// Searches for precisions in the background while the user continues to edit. It has its own session and a
// low-priority thread, so that the document's session stays responsive. Evaluations are saved in a temporary
// file, and later searches of the same model and data reuse them. GUI thread.

#include <QObject>
#include <QTemporaryDir>

#include "analysis/user_metric.h"
#include "data/preprocess.h"
#include "data/task_settings.h"
#include "jobs/worker_thread.h"
#include "model/load_model.h"
#include "search/tune.h"

namespace quantloupe::ui {

/// A search: the network, its data, and the options.
struct SearchRequest {
    LoadedModel model;
    std::filesystem::path evaluation, calibration;  ///< the latter may be empty
    Preprocess preprocess;
    TaskSettings task;
    QuantizationConfig config;
    std::optional<MetricProgram> metric;  ///< replaces the metric of the task
    TuneOptions options;                  ///< without callbacks and file
};

class SearchJob : public QObject {
    Q_OBJECT
  public:
    explicit SearchJob(QObject* parent = nullptr);
    ~SearchJob() override;

    /// Cancels the previous search. `token` cancels this one.
    void start(const SearchRequest& request, const CancelToken& token);
    /// The result so far was reported by improved(); finished() does not follow.
    void cancel();
    bool running() const { return m_running; }

  Q_SIGNALS:
    void progressed(quantloupe::TuneProgress progress);
    void improved(quantloupe::TuneResult result);  ///< the result so far
    void finished(quantloupe::TuneResult result);
    void failed(QString text);

  private:
    template <typename Report>
    void report(quint64 run, Report report);

    QTemporaryDir m_folder;
    WorkerThread m_thread;
    CancelToken m_token;
    quint64 m_run = 0;
    bool m_running = false;
};

}  // namespace quantloupe::ui
