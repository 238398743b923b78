// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs exported models in ONNX Runtime, on a thread of its own: only writing the models needs the session's
// thread, so that tuning can continue meanwhile. GUI thread.

#include <QObject>
#include <QPointer>
#include <QTemporaryDir>
#include <filesystem>
#include <functional>

#include "jobs/evaluation_job.h"

namespace quantloupe::ui {

class RuntimeJob : public QObject {
    Q_OBJECT
  public:
    explicit RuntimeJob(EvaluationJob* session, QObject* parent = nullptr);
    ~RuntimeJob() override;

    void cancel();
    bool running() const { return m_running; }

  Q_SIGNALS:
    void stageChanged(QString text);
    void failed(QString text);
    void cancelled();

  protected:
    /// The rest of the work, for the GUI thread.
    using Then = std::function<void()>;
    /// The part of the work that does not need the session's thread.
    struct Prepared {
        QString stage;  ///< shown while `run` runs
        std::function<Then(const CancelToken&)> run;
    };
    /// Writes the models into the folder, which is removed at the end.
    using Prepare =
        std::function<Prepared(Session&, const std::filesystem::path& folder, const CancelToken&)>;
    /// Cancels the previous run. `what` names the work in the status line.
    void begin(const QString& what, const Prepare& prepare);

  private:
    struct Handover;
    void run(quint64 id, const Prepared& prepared, const std::filesystem::path& folder);

    QPointer<EvaluationJob> m_session;
    QTemporaryDir m_folder;
    WorkerThread m_thread;
    CancelToken m_token, m_export;
    quint64 m_run = 0;
    bool m_running = false;
};

}  // namespace quantloupe::ui
