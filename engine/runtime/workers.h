// SPDX-License-Identifier: Apache-2.0
#pragma once
// Distributes work over samples: every worker runs whole chunks through the network, single-threaded.

#include <cstddef>
#include <functional>
#include <memory>

#include "base/cancel.h"

namespace quantloupe {

class Workers {
  public:
    /// 0: as many threads as the machine has cores, which is also the maximum. `background`: threads that
    /// other workers of this process need are left to them.
    explicit Workers(int threads = 0, bool background = false);
    ~Workers();

    int count() const;
    /// Calls task(index, worker) for every index below `tasks`, in no particular order. `worker` is below
    /// count(), and calls with the same worker never overlap. Rethrows the first exception; stops early when
    /// cancelled (throws Cancelled). While the token's gate is closed, no task is started and the caller
    /// waits.
    void run(std::size_t tasks, const std::function<void(std::size_t, std::size_t)>& task,
             const CancelToken& cancel = {}) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace quantloupe
