// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels that hold prepared weights, by the version of what they were made from: programs of one network differ in a few
// layers and share the others.

#include <list>
#include <memory>
#include <unordered_map>

#include "base/version.h"
#include "runtime/kernel.h"

namespace quantloupe {

/// One thread at a time.
class KernelCache {
  public:
    explicit KernelCache(std::size_t mostBytes = std::size_t{1} << 30) : m_most(mostBytes) {}

    struct Entry {
        std::vector<TensorDesc> outputs;
        std::shared_ptr<const Kernel> kernel;  ///< null: known not to be possible
    };
    /// Null if it is not there. Good until the next store().
    const Entry* find(const Version& version);
    void store(const Version& version, Entry entry);
    void clear();
    std::size_t bytes() const { return m_bytes; }
    /// Drops what was unused for longest if it is more.
    void setMost(std::size_t bytes);

  private:
    void evict();

    using Entries = std::list<std::pair<Version, Entry>>;
    std::size_t m_most, m_bytes = 0;
    Entries m_entries;  ///< the one used last comes first
    std::unordered_map<Version, Entries::iterator> m_byVersion;
};

}  // namespace quantloupe
