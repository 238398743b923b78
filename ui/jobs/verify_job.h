// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the exported model in ONNX Runtime, on a thread of its own: only writing it and the preview's outputs
// need the session's thread, so that tuning goes on meanwhile. GUI thread.

#include <QObject>
#include <QTemporaryDir>
#include <memory>

#include "interchange/onnxruntime/verify.h"
#include "jobs/evaluation_job.h"

namespace quantloupe::ui {

class VerifyJob : public QObject {
    Q_OBJECT
  public:
    explicit VerifyJob(EvaluationJob* session, QObject* parent = nullptr);
    ~VerifyJob() override;

    /// Cancels the previous run. `python` empty: QUANTLOUPE_PYTHON, or python3 on the PATH.
    void start(const QuantizationConfig& config, const std::filesystem::path& python);
    void cancel();
    bool running() const { return m_running; }

  Q_SIGNALS:
    void stageChanged(QString text);
    void finished(quantloupe::Verification result);
    void failed(QString text);
    void cancelled();

  private:
    struct Prepared;  ///< what the session's thread hands over
    void runtime(quint64 run, const VerifySource& source, const std::filesystem::path& python);
    void end();

    EvaluationJob* m_session;
    QTemporaryDir m_folder;
    WorkerThread m_thread;
    CancelToken m_token;
    quint64 m_run = 0;
    bool m_running = false;
};

}  // namespace quantloupe::ui
