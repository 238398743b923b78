// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results by the version of what they depend on; the one unused for longest goes first.

#include <list>
#include <unordered_map>
#include <utility>

#include "base/version.h"

namespace quantloupe {

template <typename T>
class ResultCache {
  public:
    explicit ResultCache(std::size_t most) : m_most(most) {}

    /// Null if it is not there. The pointer is good until the next store() or clear().
    T* find(const Version& version) {
        const auto found = m_byVersion.find(version);
        if (found == m_byVersion.end()) return nullptr;
        m_entries.splice(m_entries.begin(), m_entries, found->second);
        return &found->second->second;
    }
    T& store(const Version& version, T value) {
        if (T* known = find(version)) {
            *known = std::move(value);
            return *known;
        }
        m_entries.emplace_front(version, std::move(value));
        m_byVersion[version] = m_entries.begin();
        if (m_entries.size() > m_most) {
            m_byVersion.erase(m_entries.back().first);
            m_entries.pop_back();
        }
        return m_entries.front().second;
    }
    void clear() {
        m_entries.clear();
        m_byVersion.clear();
    }

  private:
    using Entries = std::list<std::pair<Version, T>>;
    std::size_t m_most;
    Entries m_entries;
    std::unordered_map<Version, typename Entries::iterator> m_byVersion;
};

}  // namespace quantloupe
