// SPDX-License-Identifier: Apache-2.0
#include "jobs/verify_job.h"

#include <atomic>

#include "base/error.h"

namespace quantloupe::ui {

struct VerifyJob::Prepared {
    std::atomic<bool> ready = false;  ///< set last
    VerifySource source;
    QString refusal;
};

VerifyJob::VerifyJob(EvaluationJob* session, QObject* parent)
    : QObject(parent), m_session(session), m_thread(QStringLiteral("verify")) {}

VerifyJob::~VerifyJob() { m_token.cancel(); }

void VerifyJob::start(const QuantizationConfig& config, const std::filesystem::path& python) {
    m_token.cancel();
    m_token = CancelToken();
    const CancelToken token = m_token;
    const quint64 run = ++m_run;
    m_running = true;
    Q_EMIT stageChanged(tr("Writing the quantized model\u2026"));
    if (!m_folder.isValid()) {
        end();
        Q_EMIT failed(tr("Could not create a temporary folder: %1").arg(m_folder.errorString()));
        return;
    }
    const auto prepared = std::make_shared<Prepared>();
    const std::filesystem::path model =
        m_folder.filePath(QStringLiteral("quantized_%1.onnx").arg(run)).toStdString();
    auto* wait = new QObject(this);  // its connections end with it
    const auto arrived = [this, run, wait, prepared, python] {
        m_session->disconnect(wait);  // both signals come, one after the other
        wait->deleteLater();
        if (run != m_run || !m_running) return;
        if (!prepared->ready) {  // ended before it began
            end();
            Q_EMIT cancelled();
        } else if (!prepared->refusal.isEmpty()) {
            end();
            Q_EMIT failed(prepared->refusal);
        } else {
            runtime(run, prepared->source, python);
        }
    };
    connect(m_session, &EvaluationJob::exported, wait, [prepared, arrived] {
        if (prepared->ready) arrived();
    });
    connect(m_session, &EvaluationJob::busyChanged, wait, [arrived](bool busy) {
        if (!busy) arrived();
    });
    m_session->runExport(tr("verification in ONNX Runtime"),
                         [=](Session& session, const CancelToken& cancel) -> QString {
                             try {
                                 token.check();
                                 prepared->source = prepareVerification(session, config, model, cancel);
                             } catch (const Cancelled&) {
                                 throw;
                             } catch (const std::exception& error) {
                                 prepared->refusal = QString::fromUtf8(error.what());
                             }
                             prepared->ready = true;
                             return {};
                         });
}

void VerifyJob::runtime(quint64 run, const VerifySource& source, const std::filesystem::path& python) {
    Q_EMIT stageChanged(tr("Running the model in ONNX Runtime on %1 samples\u2026").arg(source.data->size()));
    m_thread.post([this, run, source, python, token = m_token] {
        std::function<void()> after;
        try {
            const Verification result = verify(source, python, token);
            after = [this, result] { Q_EMIT finished(result); };
        } catch (const Cancelled&) {
            after = [this] { Q_EMIT cancelled(); };
        } catch (const std::exception& error) {
            const QString text = QString::fromUtf8(error.what());
            after = [this, text] { Q_EMIT failed(text); };
        }
        std::error_code ignored;
        std::filesystem::remove(source.model, ignored);
        m_thread.reply([this, run, after = std::move(after)] {
            if (run != m_run || !m_running) return;
            end();
            after();
        });
    });
}

void VerifyJob::cancel() {
    if (!m_running) return;
    m_token.cancel();
    end();
    Q_EMIT cancelled();
}

void VerifyJob::end() { m_running = false; }

}  // namespace quantloupe::ui
