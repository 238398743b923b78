// SPDX-License-Identifier: Apache-2.0
// Queries to the session besides its evaluations.
#include "base/error.h"
#include "jobs/evaluation_job_state.h"

namespace quantloupe::ui {

void EvaluationJob::query(QuerySlot slot, Query work, std::function<void(QString)> refused) {
    if (const auto earlier = m_queries.find(slot); earlier != m_queries.end()) earlier->second.cancel();
    m_backgroundToken.cancel();
    const CancelToken token = pausable();
    m_queries.insert_or_assign(slot, token);
    const quint64 generation = m_generation;
    enqueue(
        QueuedWork::Kind::Query, {}, token,
        [this, state = m_state, slot, token, generation, work = std::move(work),
         refused = std::move(refused)] {
            std::function<void()> after;
            try {
                token.check();
                if (state->session) after = work(*state->session, token);
            } catch (const Cancelled&) {
            } catch (const std::exception& error) {
                const QString text = QString::fromUtf8(error.what());
                if (refused) after = [refused, text] { refused(text); };
            }
            m_thread.reply([this, slot, token, generation, after = std::move(after)] {
                if (token.cancelled()) return;
                m_queries.erase(slot);
                if (after && generation == m_generation) after();
                if (m_queries.empty()) Q_EMIT queriesFinished();
            });
        },
        slot);
}

void EvaluationJob::dropQuery(QuerySlot slot) {
    const auto found = m_queries.find(slot);
    if (found == m_queries.end()) return;
    found->second.cancel();
    m_queries.erase(found);
    Q_EMIT queueChanged();
    if (m_queries.empty()) Q_EMIT queriesFinished();
}

void EvaluationJob::dropQueries(bool byOtherWork) {
    if (m_queries.empty()) return;
    for (auto& [slot, token] : m_queries) token.cancel();
    m_queries.clear();
    Q_EMIT queriesDropped(byOtherWork);
}

}  // namespace quantloupe::ui
