// SPDX-License-Identifier: Apache-2.0
#pragma once
// Large blocks that are allocated and freed frequently. Fresh pages cost about as much as the computation
// that fills them, so freed blocks are kept for reuse, up to a limit. Any thread.

#include <cstddef>

namespace quantloupe {

class RecycledMemory {
  public:
    /// Close: rounded up by at most an eighth. Loose: up to half larger if such a block is kept for reuse,
    /// for memory that is not counted in a budget.
    enum class Fit { Close, Loose };

    RecycledMemory() = default;
    /// Uninitialized and aligned to a cache line. Throws std::bad_alloc, and Error for large blocks that are
    /// not available (base/memory_limit.h).
    explicit RecycledMemory(std::size_t bytes, Fit fit = Fit::Close);
    ~RecycledMemory();
    RecycledMemory(RecycledMemory&& other) noexcept;
    RecycledMemory& operator=(RecycledMemory&& other) noexcept;

    std::byte* data() const { return m_data; }
    std::size_t size() const { return m_size; }  ///< at least the requested size

    /// Returns all blocks kept for reuse to the system.
    static void trim();

  private:
    std::byte* m_data = nullptr;
    std::size_t m_size = 0;
};

}  // namespace quantloupe
