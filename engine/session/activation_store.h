// SPDX-License-Identifier: Apache-2.0
#pragma once
// Activations of all samples, under the version of what produced them, within a memory budget.
//
// What goes first when the budget is full: GreedyDual-Size (P. Cao, S. Irani, 1997). Each tensor has the credit
// L + seconds to recompute / bytes, renewed on every use; the smallest credit goes, and L rises to it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/recycled_memory.h"
#include "base/version.h"
#include "runtime/tensor_desc.h"

namespace quantloupe {

/// One tensor, all chunks. Workers write different chunks at the same time.
class StoredTensor {
  public:
    StoredTensor(const TensorDesc& chunk, std::size_t chunks);

    const TensorDesc& desc() const { return m_desc; }  ///< of one chunk
    std::size_t bytes() const { return m_memory.size(); }
    std::byte* chunk(std::size_t index) const { return m_memory.data() + index * m_chunkBytes; }
    bool has(std::size_t begin, std::size_t end) const;
    void setPresent(std::size_t chunk) { m_present[chunk] = 1; }

  private:
    TensorDesc m_desc;
    std::size_t m_chunkBytes;
    RecycledMemory m_memory;
    std::vector<std::uint8_t> m_present;
};

/// One thread at a time; what find() and create() return stays good after it was evicted.
class ActivationStore {
  public:
    explicit ActivationStore(std::size_t budget) : m_budget(budget) {}

    /// Null if it is not there, or not for all chunks in [begin, end).
    std::shared_ptr<StoredTensor> find(const Version& version, std::size_t begin, std::size_t end);
    /// The tensor under this version, new if need be; null if it does not fit the budget. `density`: seconds to recompute
    /// it, a byte.
    std::shared_ptr<StoredTensor> create(const Version& version, const TensorDesc& chunk, std::size_t chunks,
                                         double density);
    void clear();
    std::size_t budget() const { return m_budget; }
    void setBudget(std::size_t bytes);
    std::size_t bytes() const { return m_bytes; }

  private:
    struct Entry {
        std::shared_ptr<StoredTensor> tensor;
        double density = 0, credit = 0;
    };
    void evictUntil(std::size_t bytes);

    std::size_t m_budget, m_bytes = 0;
    double m_level = 0;
    std::unordered_map<Version, Entry> m_entries;
};

/// A quarter of the machine's memory, at most half of what is free now, at least 256 MiB.
std::size_t defaultActivationBudget();

}  // namespace quantloupe
