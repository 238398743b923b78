// SPDX-License-Identifier: Apache-2.0
#pragma once
// Splits work into parts of nearly the same size, because a small last part of a product costs as much as a
// full one.

#include <algorithm>
#include <cstddef>

namespace quantloupe {

/// `count` items in as few parts of at most `most` items as possible; their sizes differ by at most one.
class EvenParts {
  public:
    EvenParts(std::size_t count, std::size_t most)
        : m_parts((count + most - 1) / most),
          m_size(m_parts == 0 ? 0 : count / m_parts),
          m_larger(count - m_parts * m_size) {}
    std::size_t parts() const { return m_parts; }
    /// Returns the first item of a part; for part parts(), the number of items.
    std::size_t begin(std::size_t part) const { return part * m_size + std::min(part, m_larger); }

  private:
    std::size_t m_parts, m_size, m_larger;
};

}  // namespace quantloupe
