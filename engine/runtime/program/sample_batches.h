// SPDX-License-Identifier: Apache-2.0
#pragma once
// The samples of a dataset as batches that a Program can read. As many samples as fit into a memory limit are
// decoded only once.

#include <map>
#include <mutex>
#include <vector>

#include "data/dataset.h"
#include "model/sample_axes.h"
#include "runtime/program/program.h"

namespace quantloupe {

class SampleBatches {
  public:
    /// Decodes the first sample and checks it against the graph's inputs. `batch` is used unless the model
    /// has a fixed batch size. Throws Error. Keeps the order of the dataset. The first decoded samples, up to
    /// `keptBytes`, stay in memory; the others are decoded again in every pass.
    SampleBatches(DatasetPtr dataset, const Graph& graph, std::size_t batch,
                  std::size_t keptBytes = std::size_t{1} << 30);

    std::size_t samples() const { return m_dataset->size(); }
    std::size_t batch() const { return m_batch; }
    std::size_t chunks() const { return (samples() + m_batch - 1) / m_batch; }
    /// The number of samples in a chunk; the last chunk may have fewer than batch().
    std::size_t samplesIn(std::size_t chunk) const { return std::min(m_batch, samples() - chunk * m_batch); }
    const Dataset& dataset() const { return *m_dataset; }

    /// Descriptions of the inputs of the graph, or of a graph transformed from it, for one batch.
    std::map<TensorId, TensorDesc> inputsOf(const Graph& graph) const;

    /// The values of a chunk, one buffer per graph input, in the graph's order. If the last chunk has fewer
    /// samples, its last sample is repeated. Any thread.
    std::vector<std::vector<std::byte>> load(std::size_t chunk) const;
    /// The same as arrays, by the names of the inputs.
    std::map<std::string, ConstantPtr> arrays(std::size_t chunk) const;

  private:
    using Sample = std::shared_ptr<const std::vector<SampleTensor>>;
    Sample sample(std::size_t index) const;

    DatasetPtr m_dataset;
    // One of each for every input, in the order of the graph.
    std::vector<std::string> m_inputNames;
    std::vector<TensorDesc> m_inputs;
    SampleAxes m_axes;
    /// Values of inputs without a sample axis next to inputs with one: the same for all samples.
    std::vector<std::optional<std::vector<std::byte>>> m_shared;
    std::size_t m_batch = 1;
    std::size_t m_sampleBytes = 0;
    mutable std::vector<Sample> m_cache;
    mutable std::mutex m_mutex;
};

}  // namespace quantloupe
