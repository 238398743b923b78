// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cache of results, keyed by the version of their inputs; the least recently used entry is evicted first.

#include <algorithm>
#include <list>
#include <unordered_map>
#include <utility>

#include "base/version.h"

namespace quantloupe {

template <typename T>
class ResultCache {
  public:
    explicit ResultCache(std::size_t most) : m_most(most) {}

    /// Returns null if there is no such entry. The pointer is valid until the next store() or clear().
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

    std::size_t bytes() const { return m_entries.size() * kEntryBytes; }
    /// Like shrink() below, for values that own no memory.
    std::size_t shrink(std::size_t most) {
        dropFrom(std::max<std::size_t>(1, most / kEntryBytes));
        return bytes();
    }
    /// Sum of `size(value)` and the overhead over all entries.
    template <typename Size>
    std::size_t bytes(Size size) const {
        std::size_t sum = 0;
        for (const auto& [version, value] : m_entries) sum += kEntryBytes + size(value);
        return sum;
    }
    /// Drops the least recently used entries until the rest take at most `most` bytes; the last used entry
    /// always stays. Returns the bytes of the remaining entries.
    template <typename Size>
    std::size_t shrink(std::size_t most, Size size) {
        std::size_t kept = 0, count = 0;
        for (const auto& [version, value] : m_entries) {
            const std::size_t bytes = kEntryBytes + size(value);
            if (count > 0 && kept + bytes > most) break;
            kept += bytes;
            ++count;
        }
        dropFrom(count);
        return kept;
    }

  private:
    void dropFrom(std::size_t count) {
        while (m_entries.size() > count) {
            m_byVersion.erase(m_entries.back().first);
            m_entries.pop_back();
        }
    }

    using Entries = std::list<std::pair<Version, T>>;
    /// Including the nodes of the list and the map.
    static constexpr std::size_t kEntryBytes = sizeof(T) + 128;
    std::size_t m_most;
    Entries m_entries;
    std::unordered_map<Version, typename Entries::iterator> m_byVersion;
};

}  // namespace quantloupe
