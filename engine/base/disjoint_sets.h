// SPDX-License-Identifier: Apache-2.0
#pragma once
// Disjoint sets of the numbers below a count (union-find with path halving).

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace quantloupe {

class DisjointSets {
  public:
    explicit DisjointSets(std::size_t count) : m_parent(count) {
        std::iota(m_parent.begin(), m_parent.end(), std::size_t{0});
    }

    /// The representative of the set that contains `a`: its smallest number, unless attach() was called.
    std::size_t find(std::size_t a) {
        while (m_parent[a] != a) a = m_parent[a] = m_parent[m_parent[a]];
        return a;
    }

    /// Joins the sets that contain `a` and `b`. Returns false if they are the same set.
    bool join(std::size_t a, std::size_t b) {
        a = find(a);
        b = find(b);
        if (a != b) attach(std::max(a, b), std::min(a, b));
        return a != b;
    }

    /// Joins two sets, given by their representatives; `to` represents the result.
    void attach(std::size_t from, std::size_t to) { m_parent[from] = to; }

  private:
    std::vector<std::size_t> m_parent;
};

}  // namespace quantloupe
