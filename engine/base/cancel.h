// SPDX-License-Identifier: Apache-2.0
#pragma once
// A flag that one thread sets and another looks at. Copies share the flag.

#include <atomic>
#include <memory>

#include "base/error.h"

namespace quantloupe {

class CancelToken {
  public:
    CancelToken() : m_flag(std::make_shared<std::atomic<bool>>(false)) {}
    void cancel() const { m_flag->store(true, std::memory_order_relaxed); }
    bool cancelled() const { return m_flag->load(std::memory_order_relaxed); }
    /// Throws Cancelled when the token is set.
    void check() const {
        if (cancelled()) throw Cancelled();
    }

  private:
    std::shared_ptr<std::atomic<bool>> m_flag;
};

}  // namespace quantloupe
