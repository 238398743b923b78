// SPDX-License-Identifier: Apache-2.0
#include "session/caches/activation_store.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <new>
#include <tuple>

#include "base/error.h"
#include "base/memory_limit.h"

namespace quantloupe {
namespace {

/// Whether there was memory for what `allocate` does. Other programs may use memory of the budget.
bool fits(const std::function<void()>& allocate) {
    try {
        allocate();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

StoredTensor::StoredTensor(const TensorDesc& chunk, std::size_t chunks, const Shard& shard)
    : m_desc(chunk),
      m_shard(shard),
      m_chunkBytes((chunk.bytes() + 63) / 64 * 64),
      m_memory(m_chunkBytes * shard.slots(chunks)),
      m_present(shard.slots(chunks), 0) {}

bool StoredTensor::has(std::size_t begin, std::size_t end) const {
    for (std::size_t chunk = begin; chunk < end; ++chunk)
        if (m_shard.owns(chunk) && m_present[m_shard.slot(chunk)] == 0) return false;
    return true;
}

std::shared_ptr<StoredTensor> ActivationStore::find(const Version& version, std::size_t begin,
                                                    std::size_t end) {
    const auto found = m_entries.find(version);
    if (found == m_entries.end() || !found->second.tensor->has(begin, end)) return nullptr;
    found->second.credit = m_level + found->second.density;
    found->second.lastEvaluation = m_evaluation;
    return found->second.tensor;
}

void ActivationStore::renew(const Version& version) {
    if (const auto found = m_entries.find(version); found != m_entries.end())
        found->second.lastEvaluation = m_evaluation;
}

void ActivationStore::nextEvaluation() {
    ++m_evaluation;
    std::erase_if(m_entries, [this](const auto& entry) {
        const bool old = entry.second.lastEvaluation + kEvaluationsKept < m_evaluation;
        if (old) m_bytes -= entry.second.tensor->bytes();
        return old;
    });
}

std::shared_ptr<StoredTensor> ActivationStore::create(const Version& version, const TensorDesc& chunk,
                                                      std::size_t chunks, double density,
                                                      const Shard& shard) {
    if (const auto found = m_entries.find(version); found != m_entries.end()) return found->second.tensor;
    const std::size_t bytes = chunk.bytes() * shard.slots(chunks);
    if (bytes > m_budget || !evictUntil(m_budget - bytes)) return nullptr;
    std::shared_ptr<StoredTensor> tensor;
    const auto allocate = [&] { tensor = std::make_shared<StoredTensor>(chunk, chunks, shard); };
    if (shard.count > 1) {  // the processes of a group must keep the same tensors
        allocate();
    } else if (!fits(allocate)) {
        evictUntil(m_bytes / 2);
        RecycledMemory::trim();
        if (!fits(allocate)) return nullptr;
    }
    m_bytes += tensor->bytes();
    m_entries[version] = {tensor, density, m_level + density, m_evaluation};
    return tensor;
}

bool ActivationStore::evictUntil(std::size_t bytes) {
    const auto rank = [](const auto& entry) {
        return std::tuple(entry.second.tensor.use_count() > 1, entry.second.credit, entry.first);
    };
    while (m_bytes > bytes && !m_entries.empty()) {
        const auto least = std::min_element(m_entries.begin(), m_entries.end(),
                                            [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
        if (least->second.tensor.use_count() > 1) return false;
        m_level = least->second.credit;
        m_bytes -= least->second.tensor->bytes();
        m_entries.erase(least);
    }
    return true;
}

std::size_t ActivationStore::available() const {
    std::size_t used = 0;
    for (const auto& [version, entry] : m_entries)
        if (entry.tensor.use_count() > 1) used += entry.tensor->bytes();
    return m_budget - std::min(m_budget, used);
}

void ActivationStore::setBudget(std::size_t bytes) {
    m_budget = bytes;
    evictUntil(bytes);
}

void ActivationStore::clear() {
    m_entries.clear();
    m_bytes = 0;
    m_level = 0;
}

std::size_t defaultActivationBudget() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    if (pages <= 0) return std::size_t{1} << 30;
    const std::size_t quarter =
        static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE)) / 4;
    // The available memory does not include what other windows and programs already use.
    return std::min(quarter, std::max(availableMemory().value_or(2 * quarter) / 2, std::size_t{256} << 20));
}

}  // namespace quantloupe
