// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples of a dataset as batches that a Program can read; as many as fit a memory limit are decoded once.

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "data/dataset.h"
#include "runtime/program.h"
#include "runtime/workers.h"

namespace quantloupe {

class SampleBatches {
  public:
    /// Decodes the first sample and checks it against the graph's inputs. `batch` is used unless the model fixes its own batch
    /// size. Throws Error. The dataset's order is kept. Up to `keptBytes` of decoded samples stay in memory, the first ones; the others
    /// are decoded again for every pass.
    SampleBatches(DatasetPtr dataset, const Graph& graph, std::size_t batch, std::size_t keptBytes = std::size_t{1} << 30);

    std::size_t samples() const { return m_dataset->size(); }
    std::size_t batch() const { return m_batch; }
    std::size_t chunks() const { return (samples() + m_batch - 1) / m_batch; }
    /// Samples of a chunk; the last may have fewer than batch().
    std::size_t samplesIn(std::size_t chunk) const { return std::min(m_batch, samples() - chunk * m_batch); }
    const Dataset& dataset() const { return *m_dataset; }

    /// What the inputs of the graph, or of one transformed from it, look like for one batch.
    std::map<TensorId, TensorDesc> inputsOf(const Graph& graph) const;

    /// The values of a chunk, one buffer a graph input, in the graph's order; missing samples of the last chunk repeat its last
    /// one. Any thread.
    std::vector<std::vector<std::byte>> load(std::size_t chunk) const;

  private:
    using Sample = std::shared_ptr<const std::vector<SampleTensor>>;
    Sample sample(std::size_t index) const;

    DatasetPtr m_dataset;
    std::vector<TensorDesc> m_inputs;  ///< in the order of the graph's inputs
    std::size_t m_batch = 1;
    std::size_t m_sampleBytes = 0;
    mutable std::vector<Sample> m_cache;
    mutable std::mutex m_mutex;
};

}  // namespace quantloupe
