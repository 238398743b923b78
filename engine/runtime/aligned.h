// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory aligned to a cache line, for kernels whose loads should not straddle two lines.

#include <cstddef>
#include <new>
#include <vector>

namespace quantloupe {

template <typename T>
struct CacheLineAllocator {
    using value_type = T;
    CacheLineAllocator() = default;
    template <typename U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}
    T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{64}));
    }
    void deallocate(T* memory, std::size_t) { ::operator delete (memory, std::align_val_t{64}); }
    template <typename U>
    bool operator==(const CacheLineAllocator<U>&) const {
        return true;
    }
};

/// The smallest multiple that is at least `value`.
constexpr std::size_t roundUp(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

template <typename T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace quantloupe
