// SPDX-License-Identifier: Apache-2.0
#include "jobs/runtime_job.h"

#include <QDir>
#include <atomic>

#include "base/error.h"

namespace quantloupe::ui {

struct RuntimeJob::Handover {
    std::atomic<bool> ready = false;  ///< set last
    Prepared prepared;
    QString refusal;
};

RuntimeJob::RuntimeJob(EvaluationJob* session, QObject* parent)
    : QObject(parent), m_session(session), m_thread(QStringLiteral("onnxruntime")) {}

RuntimeJob::~RuntimeJob() {
    m_token.cancel();
    if (m_session) m_session->cancelExport(m_export);
}

void RuntimeJob::begin(const QString& what, const Prepare& prepare) {
    m_token.cancel();
    m_session->cancelExport(m_export);
    m_token = CancelToken();
    const CancelToken token = m_token;
    const quint64 id = ++m_run;
    m_running = true;
    Q_EMIT stageChanged(tr("Writing the quantized model\u2026"));
    const QString folder = m_folder.filePath(QString::number(id));
    if (!m_folder.isValid() || !QDir().mkpath(folder)) {
        m_running = false;
        Q_EMIT failed(tr("Could not create a temporary folder: %1").arg(m_folder.errorString()));
        return;
    }
    const auto handover = std::make_shared<Handover>();
    auto* wait = new QObject(this);  // its connections end with it
    const auto arrived = [this, id, wait, handover, folder] {
        m_session->disconnect(wait);  // both signals come, one after the other
        wait->deleteLater();
        if (id != m_run || !m_running) return;
        if (!handover->ready) {  // ended before it began
            m_running = false;
            Q_EMIT cancelled();
        } else if (!handover->refusal.isEmpty()) {
            m_running = false;
            Q_EMIT failed(handover->refusal);
        } else {
            run(id, handover->prepared, folder.toStdString());
        }
    };
    connect(m_session, &EvaluationJob::exported, wait, [handover, arrived] {
        if (handover->ready) arrived();
    });
    connect(m_session, &EvaluationJob::busyChanged, wait, [arrived](bool busy) {
        if (!busy) arrived();
    });
    m_export = m_session->runExport(what, [=](Session& session, const CancelToken& cancel) -> QString {
        try {
            token.check();
            handover->prepared = prepare(session, folder.toStdString(), cancel);
        } catch (const Cancelled&) {
            throw;
        } catch (const std::exception& error) {
            handover->refusal = QString::fromUtf8(error.what());
        }
        handover->ready = true;
        return {};
    });
}

void RuntimeJob::run(quint64 id, const Prepared& prepared, const std::filesystem::path& folder) {
    Q_EMIT stageChanged(prepared.stage);
    m_thread.post([this, id, work = prepared.run, folder, token = m_token] {
        Then after;
        try {
            after = work(token);
        } catch (const Cancelled&) {
            after = [this] { Q_EMIT cancelled(); };
        } catch (const std::exception& error) {
            const QString text = QString::fromUtf8(error.what());
            after = [this, text] { Q_EMIT failed(text); };
        }
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
        m_thread.reply([this, id, after = std::move(after)] {
            if (id != m_run || !m_running) return;
            m_running = false;
            after();
        });
    });
}

void RuntimeJob::cancel() {
    if (!m_running) return;
    m_token.cancel();
    m_running = false;
    if (m_session) m_session->cancelExport(m_export);
    Q_EMIT cancelled();
}

}  // namespace quantloupe::ui
