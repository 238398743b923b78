// SPDX-License-Identifier: Apache-2.0
#include "session/activation_store.h"

#include <unistd.h>

#include <algorithm>

namespace quantloupe {
StoredTensor::StoredTensor(const TensorDesc& chunk, std::size_t chunks)
    : m_desc(chunk),
      m_chunkBytes((chunk.bytes() + 63) / 64 * 64),
      m_memory(m_chunkBytes * chunks),
      m_present(chunks, 0) {}

bool StoredTensor::has(std::size_t begin, std::size_t end) const {
    return std::all_of(m_present.begin() + static_cast<std::ptrdiff_t>(begin),
                       m_present.begin() + static_cast<std::ptrdiff_t>(end), [](std::uint8_t present) { return present; });
}

std::shared_ptr<StoredTensor> ActivationStore::find(const Version& version, std::size_t begin, std::size_t end) {
    const auto found = m_entries.find(version);
    if (found == m_entries.end() || !found->second.tensor->has(begin, end)) return nullptr;
    found->second.credit = m_level + found->second.density;
    return found->second.tensor;
}

std::shared_ptr<StoredTensor> ActivationStore::create(const Version& version, const TensorDesc& chunk,
                                                      std::size_t chunks, double density) {
    if (const auto found = m_entries.find(version); found != m_entries.end()) return found->second.tensor;
    const std::size_t bytes = chunk.bytes() * chunks;
    if (bytes > m_budget) return nullptr;
    evictUntil(m_budget - bytes);
    auto tensor = std::make_shared<StoredTensor>(chunk, chunks);
    m_bytes += tensor->bytes();
    m_entries[version] = {tensor, density, m_level + density};
    return tensor;
}

void ActivationStore::evictUntil(std::size_t bytes) {
    while (m_bytes > bytes && !m_entries.empty()) {
        const auto least = std::min_element(m_entries.begin(), m_entries.end(), [](const auto& a, const auto& b) {
            return a.second.credit != b.second.credit ? a.second.credit < b.second.credit : a.first < b.first;
        });
        m_level = least->second.credit;
        m_bytes -= least->second.tensor->bytes();
        m_entries.erase(least);
    }
}

void ActivationStore::clear() {
    m_entries.clear();
    m_bytes = 0;
    m_level = 0;
}

std::size_t defaultActivationBudget() {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && size > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(size) / 4 : std::size_t{1} << 30;
}

}  // namespace quantloupe
