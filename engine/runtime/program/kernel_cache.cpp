// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/kernel_cache.h"

namespace quantloupe {
namespace {

/// A kernel's objects without its weights, roughly.
constexpr std::size_t kKernelBytes = 4096;

std::size_t bytesOf(const KernelCache::Entry& entry) {
    return entry.kernel ? kKernelBytes + entry.kernel->weightBytes() : sizeof(KernelCache::Entry);
}

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
    evict();
}

void KernelCache::setMost(std::size_t bytes) {
    m_most = bytes;
    evict();
}

void KernelCache::evict() {
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
