// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts the memory of a session's caches, or limits it. Internal to engine/session.

#include <cstddef>
#include <optional>

namespace quantloupe {

/// Adds up the bytes of the caches that it visits. With a budget, shrinks each of them to its share before.
class CacheVisitor {
  public:
    /// `budget`: bytes for all caches of the session; empty: only counts.
    explicit CacheVisitor(std::optional<std::size_t> budget) : m_budget(budget) {}

    const std::optional<std::size_t>& budget() const { return m_budget; }
    std::size_t bytes() const { return m_bytes; }  ///< of everything visited so far, after shrinking
    void add(std::size_t bytes) { m_bytes += bytes; }

    /// Visits a ResultCache, whose share is budget / divisor. `size` returns the bytes that a value owns;
    /// without it, values own no memory.
    template <typename Cache, typename... Size>
    void visit(Cache& cache, std::size_t divisor, Size... size) {
        m_bytes += m_budget ? cache.shrink(*m_budget / divisor, size...) : cache.bytes(size...);
    }

  private:
    std::optional<std::size_t> m_budget;
    std::size_t m_bytes = 0;
};

}  // namespace quantloupe
