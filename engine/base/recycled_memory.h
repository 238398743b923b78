// SPDX-License-Identifier: Apache-2.0
#pragma once
// Large blocks that are taken and given back all the time. Fresh pages cost about as much as computing what goes into them,
// so blocks given back wait for the next taker, up to a limit. Any thread.

#include <cstddef>

namespace quantloupe {

class RecycledMemory {
  public:
    RecycledMemory() = default;
    /// Uninitialized; starts at a cache line. Throws std::bad_alloc, and Error for large blocks
    /// that cannot be had (base/memory_limit.h).
    explicit RecycledMemory(std::size_t bytes);
    ~RecycledMemory();
    RecycledMemory(RecycledMemory&& other) noexcept;
    RecycledMemory& operator=(RecycledMemory&& other) noexcept;

    std::byte* data() const { return m_data; }
    std::size_t size() const { return m_size; }  ///< at least what was asked for

    /// Gives waiting blocks back to the system.
    static void trim();

  private:
    std::byte* m_data = nullptr;
    std::size_t m_size = 0;
};

}  // namespace quantloupe
