// SPDX-License-Identifier: Apache-2.0
#include "jobs/job_queue.h"

namespace quantloupe::ui {

quint64 JobQueue::add(QueuedWork::Kind kind, const QString& what, const CancelToken& token,
                      std::optional<QuerySlot> slot) {
    m_entries.push_back({{kind, what, false, ++m_last, slot}, token});
    return m_last;
}

void JobQueue::start(quint64 id) {
    for (auto& [work, token] : m_entries)
        if (work.id == id) work.running = true;
}

void JobQueue::finish(quint64 id) {
    std::erase_if(m_entries, [id](const auto& entry) { return entry.first.id == id; });
}

QStringList JobQueue::cancel(QueuedWork::Kind kind) const {
    QStringList cancelled;
    for (const auto& [work, token] : m_entries) {
        if (work.kind != kind || token.cancelled()) continue;
        cancelled << work.what;
        token.cancel();
    }
    return cancelled;
}

std::vector<QueuedWork> JobQueue::works() const {
    std::vector<QueuedWork> works;
    for (const auto& [work, token] : m_entries)
        if (!token.cancelled()) works.push_back(work);
    return works;
}

}  // namespace quantloupe::ui
