// SPDX-License-Identifier: Apache-2.0
#pragma once
// The unfinished work of the engine's thread, in the order in which it runs, as shown in the status line. GUI
// thread.

#include <QStringList>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "jobs/query_slot.h"

namespace quantloupe::ui {

struct QueuedWork {
    enum class Kind { Loading, Data, Evaluation, Export, Query, Baseline, Background };
    Kind kind = Kind::Evaluation;
    QString what;  ///< Export: a description for the user
    bool running = false;
    quint64 id = 0;
    std::optional<QuerySlot> slot{};  ///< of a query
};

class JobQueue {
  public:
    /// Adds work and returns the number that identifies it.
    quint64 add(QueuedWork::Kind kind, const QString& what, const CancelToken& token,
                std::optional<QuerySlot> slot = {});
    void start(quint64 id);
    void finish(quint64 id);
    /// Returns what was cancelled.
    QStringList cancel(QueuedWork::Kind kind) const;
    /// Returns the work without cancelled entries.
    std::vector<QueuedWork> works() const;

  private:
    std::vector<std::pair<QueuedWork, CancelToken>> m_entries;
    quint64 m_last = 0;
};

}  // namespace quantloupe::ui
