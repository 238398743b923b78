// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work spread over samples: every worker takes whole chunks through the network, single-threaded inside.

#include <cstddef>
#include <functional>
#include <memory>

#include "base/cancel.h"

namespace quantloupe {

class Workers {
  public:
    /// 0: as many as the machine has cores; never more.
    explicit Workers(int threads = 0);
    ~Workers();

    int count() const;
    /// Calls task(index, worker) for every index below `tasks`, in no particular order; `worker` is below count() and no two
    /// calls with the same worker overlap. Rethrows the first exception; stops early when cancelled (throws Cancelled). While the
    /// token's gate is closed no task is begun, and the caller waits.
    void run(std::size_t tasks, const std::function<void(std::size_t, std::size_t)>& task,
             const CancelToken& cancel = {}) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// oneDNN's OpenMP stays on this thread alone from now on. Called for every worker before it creates a primitive.
void limitOpenMpOfThisThread();

}  // namespace quantloupe
