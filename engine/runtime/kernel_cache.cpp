// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_cache.h"

namespace quantloupe {
namespace {

std::size_t bytesOf(const KernelCache::Entry& entry) { return 256 + (entry.kernel ? entry.kernel->weightBytes() : 0); }

}  // namespace

const KernelCache::Entry* KernelCache::find(const Version& version) {
    const auto found = m_byVersion.find(version);
    if (found == m_byVersion.end()) return nullptr;
    m_entries.splice(m_entries.begin(), m_entries, found->second);
    return &found->second->second;
}

void KernelCache::store(const Version& version, Entry entry) {
    if (find(version) != nullptr) return;
    m_bytes += bytesOf(entry);
    m_entries.emplace_front(version, std::move(entry));
    m_byVersion[version] = m_entries.begin();
    while (m_bytes > m_most && m_entries.size() > 1) {
        m_bytes -= bytesOf(m_entries.back().second);
        m_byVersion.erase(m_entries.back().first);
        m_entries.pop_back();
    }
}

void KernelCache::clear() {
    m_entries.clear();
    m_byVersion.clear();
    m_bytes = 0;
}

}  // namespace quantloupe
