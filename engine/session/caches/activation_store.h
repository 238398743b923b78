// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stores activations of all samples within a memory budget, keyed by the version of the computation that
// produced them.
//
// Eviction: GreedyDual-Size (P. Cao, S. Irani, 1997). Each tensor has the credit L + seconds to recompute /
// bytes, renewed on every use. The tensor with the smallest credit is evicted, and L is raised to that
// credit.
//
// Before the budget is reached, tensors that no evaluation has needed for a while are evicted, so that new
// ones reuse their memory (base/recycled_memory.h): fresh pages can cost more than the computation that fills
// them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/recycled_memory.h"
#include "base/version.h"
#include "runtime/program/shard.h"
#include "runtime/tensor_desc.h"

namespace quantloupe {

/// The chunks of one tensor that belong to a shard. Workers may write different chunks concurrently.
class StoredTensor {
  public:
    StoredTensor(const TensorDesc& chunk, std::size_t chunks, const Shard& shard);

    const TensorDesc& desc() const { return m_desc; }  ///< of one chunk
    std::size_t bytes() const { return m_memory.size(); }
    std::byte* chunk(std::size_t index) const { return m_memory.data() + m_shard.slot(index) * m_chunkBytes; }
    /// Whether all chunks of the shard in [begin, end) are stored.
    bool has(std::size_t begin, std::size_t end) const;
    void setPresent(std::size_t chunk) { m_present[m_shard.slot(chunk)] = 1; }

  private:
    TensorDesc m_desc;
    Shard m_shard;
    std::size_t m_chunkBytes;
    RecycledMemory m_memory;
    std::vector<std::uint8_t> m_present;
};

/// Not thread-safe. Tensors returned by find() and create() are not evicted to make room for others while the
/// caller uses them: that would free no memory.
class ActivationStore {
  public:
    static constexpr std::size_t kEvaluationsKept = 12;

    explicit ActivationStore(std::size_t budget) : m_budget(budget) {}

    /// Returns null unless all chunks of the shard in [begin, end) are stored.
    std::shared_ptr<StoredTensor> find(const Version& version, std::size_t begin, std::size_t end);
    /// Marks the tensor with this version, if it is stored, as part of the network that is being evaluated.
    void renew(const Version& version);
    /// Returns the tensor with this version. Creates it if there is none; returns null if the tensors in use
    /// leave too little of the budget. `density` is the seconds per byte to recompute it. All tensors of a
    /// store belong to the same shard.
    std::shared_ptr<StoredTensor> create(const Version& version, const TensorDesc& chunk, std::size_t chunks,
                                         double density, const Shard& shard);
    /// Begins another evaluation, and evicts the tensors that the last kEvaluationsKept have not renewed.
    void nextEvaluation();
    void clear();
    std::size_t budget() const { return m_budget; }
    /// The part of the budget that no tensor in use takes.
    std::size_t available() const;
    void setBudget(std::size_t bytes);
    std::size_t bytes() const { return m_bytes; }

  private:
    struct Entry {
        std::shared_ptr<StoredTensor> tensor;
        double density = 0, credit = 0;
        std::size_t lastEvaluation = 0;
    };
    /// Returns false if the tensors in use are larger.
    bool evictUntil(std::size_t bytes);

    std::size_t m_budget, m_bytes = 0;
    double m_level = 0;
    std::size_t m_evaluation = 0;
    std::unordered_map<Version, Entry> m_entries;
};

/// Returns the default budget in bytes: a quarter of the machine's memory, at most half of the free memory,
/// at least 256 MiB.
std::size_t defaultActivationBudget();

}  // namespace quantloupe
