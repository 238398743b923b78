// SPDX-License-Identifier: Apache-2.0
#include "base/recycled_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/memory_limit.h"
#include "base/recycled_limits.h"

namespace quantloupe {
namespace {

constexpr std::size_t kSmallest = std::size_t{64} << 10;  // malloc is as good for smaller blocks
constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Rounds up to the next eighth of a power of two: few sizes, little waste.
std::size_t sizeClass(std::size_t bytes) {
    if (bytes <= kSmallest) return (bytes + 63) / 64 * 64 + (bytes == 0 ? 64 : 0);
    const std::size_t step = std::bit_floor(bytes) / 8;
    return (bytes + step - 1) / step * step;
}

struct Waiting {
    std::mutex mutex;
    std::map<std::size_t, std::vector<std::byte*>> blocks;
    std::size_t bytes = 0;
    std::size_t most = std::size_t{192} << 20;
};

Waiting& waiting() {
    static auto* const instance = new Waiting;  // outlives every static that still owns a block
    return *instance;
}

std::byte* allocate(std::size_t size) {
    if (size > kSmallest) requireMemory(size);
    const std::size_t alignment = size >= kHugePage ? kHugePage : 64;
    auto* data = static_cast<std::byte*>(
        std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment));
    if (data == nullptr) throw std::bad_alloc();
    if (size >= kHugePage) madvise(data, size, MADV_HUGEPAGE);
    return data;
}

}  // namespace

RecycledMemory::RecycledMemory(std::size_t bytes, Fit fit) : m_size(sizeClass(bytes)) {
    if (m_size > kSmallest) {
        Waiting& pool = waiting();
        const std::lock_guard lock(pool.mutex);
        const std::size_t largest = fit == Fit::Loose ? m_size + m_size / 2 : m_size;
        const auto found = std::find_if(pool.blocks.lower_bound(m_size), pool.blocks.end(),
                                        [](const auto& blocks) { return !blocks.second.empty(); });
        if (found != pool.blocks.end() && found->first <= largest) {
            m_size = found->first;
            m_data = found->second.back();
            found->second.pop_back();
            pool.bytes -= m_size;
            return;
        }
    }
    m_data = allocate(m_size);
}

RecycledMemory::~RecycledMemory() {
    if (m_data == nullptr) return;
    if (m_size > kSmallest) {
        Waiting& pool = waiting();
        const std::lock_guard lock(pool.mutex);
        if (pool.bytes + m_size <= pool.most) {
            pool.blocks[m_size].push_back(m_data);
            pool.bytes += m_size;
            return;
        }
    }
    std::free(m_data);
}

RecycledMemory::RecycledMemory(RecycledMemory&& other) noexcept
    : m_data(std::exchange(other.m_data, nullptr)), m_size(std::exchange(other.m_size, 0)) {}

RecycledMemory& RecycledMemory::operator=(RecycledMemory&& other) noexcept {
    std::swap(m_data, other.m_data);
    std::swap(m_size, other.m_size);
    return *this;
}

void RecycledMemory::trim() {
    Waiting& pool = waiting();
    const std::lock_guard lock(pool.mutex);
    for (auto& [size, blocks] : pool.blocks)
        for (std::byte* block : blocks) std::free(block);
    pool.blocks.clear();
    pool.bytes = 0;
}

std::size_t recycledBytes() {
    Waiting& pool = waiting();
    const std::lock_guard lock(pool.mutex);
    return pool.bytes;
}

void limitRecycledBytes(std::size_t most) {
    {
        Waiting& pool = waiting();
        const std::lock_guard lock(pool.mutex);
        pool.most = most;
        if (pool.bytes <= most) return;
    }
    RecycledMemory::trim();
}

}  // namespace quantloupe
