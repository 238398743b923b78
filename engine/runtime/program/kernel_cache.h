// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels with prepared weights, keyed by the version of their inputs. Programs for the same network differ
// in only a few layers and share all other kernels.

#include <list>
#include <memory>
#include <unordered_map>

#include "base/version.h"
#include "runtime/operators/kernel.h"

namespace quantloupe {

/// Not thread-safe.
class KernelCache {
  public:
    explicit KernelCache(std::size_t mostBytes = std::size_t{1} << 30) : m_most(mostBytes) {}

    struct Entry {
        std::vector<TensorDesc> outputs;
        std::shared_ptr<const Kernel> kernel;  ///< null: the kernel is not possible
    };
    /// Returns null if there is no such entry. The pointer is valid until the next store().
    const Entry* find(const Version& version);
    void store(const Version& version, Entry entry);
    void clear();
    std::size_t bytes() const { return m_bytes; }
    /// Drops the least recently used kernels if they exceed the new limit.
    void setMost(std::size_t bytes);

  private:
    void evict();

    using Entries = std::list<std::pair<Version, Entry>>;
    std::size_t m_most, m_bytes = 0;
    Entries m_entries;  ///< the most recently used first
    std::unordered_map<Version, Entries::iterator> m_byVersion;
};

}  // namespace quantloupe
