// SPDX-License-Identifier: Apache-2.0
#include "jobs/search_job.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "jobs/session_data.h"

namespace quantloupe::ui {

namespace {

constexpr int kNiceness = 10;

/// Lowers the priority of the calling thread. The threads of the pool serve the document as well.
void lowerPriority() { ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness); }

}  // namespace

SearchJob::SearchJob(QObject* parent) : QObject(parent), m_thread(QStringLiteral("search")) {
    m_thread.post(lowerPriority);
}

SearchJob::~SearchJob() { m_token.cancel(); }

/// Runs `report` on the GUI thread unless the search has been cancelled.
template <typename Report>
void SearchJob::report(quint64 run, Report report) {
    m_thread.reply([this, run, report] {
        if (run == m_run && m_running) report();
    });
}

void SearchJob::start(const SearchRequest& request, const CancelToken& token) {
    cancel();
    m_token = token;
    m_running = true;
    const quint64 run = ++m_run;
    SearchRequest own = request;
    if (m_folder.isValid() && !own.metric)  // the program may have changed since an earlier search
        own.options.measurements = m_folder.filePath(QStringLiteral("search.tune.json")).toStdString();
    own.options.progress = [this, run](const TuneProgress& progress) {
        report(run, [this, progress] { Q_EMIT progressed(progress); });
    };
    own.options.improved = [this, run](const TuneResult& result) {
        report(run, [this, result] { Q_EMIT improved(result); });
    };
    m_thread.post([this, run, own = std::move(own), token] {
        std::function<void()> then;
        try {
            token.check();
            Session session(own.model, {.background = true});
            const auto [data, calibration] =
                openSessionData(session, own.evaluation, own.calibration, own.preprocess, own.task, token);
            session.setData(data, calibration);
            if (own.metric) session.setMetric(programMetric(*own.metric));
            const TuneResult result = tuneOnPart(session, own.config, own.options, token);
            then = [this, result] { Q_EMIT finished(result); };
        } catch (const Cancelled&) {
            return;
        } catch (const std::exception& error) {
            then = [this, text = QString::fromUtf8(error.what())] { Q_EMIT failed(text); };
        }
        report(run, [this, then] {
            m_running = false;
            then();
        });
    });
}

void SearchJob::cancel() {
    if (!m_running) return;
    m_token.cancel();
    m_running = false;
}

}  // namespace quantloupe::ui
