// SPDX-License-Identifier: Apache-2.0
// Session::outputs: the outputs of the networks for each sample, in the data's own order.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "model/sample_axes.h"
#include "session/session_parts.h"

namespace quantloupe {
namespace {

/// The values of all samples of one graph output.
class OutputArray {
  public:
    /// If the batch size is one, `two` shows the sample dimension, the output's layout for a batch of two; it
    /// may be null. Otherwise, the names in the declared shape do.
    OutputArray(const TensorDesc& desc, const TensorDesc* two, const std::optional<Shape>& declared,
                const SampleBatches& batches)
        : m_type(desc.type), m_dims(desc.dims) {
        m_perSample = desc.samples.perSample();
        if (!m_perSample) {
            m_block = desc.bytes();
            m_chunks = desc.samples.isMixed() ? batches.chunks() : 1;
            m_bytes.resize(m_block * m_chunks);
            return;
        }
        const std::size_t samples = batches.samples();
        const bool alone = desc.samples.count == 1;
        // A scalar has no dimension for the samples, although two of them may have one.
        const bool shown = alone && two != nullptr && isPair(*two);
        const SampleLayout& layout = shown ? two->samples : desc.samples;
        std::optional<std::size_t> axis = sampleDimension(shown ? *two : desc);
        m_count = static_cast<std::size_t>(desc.samples.count);
        m_runs = static_cast<std::size_t>(layout.runs);
        if (alone && !shown && (axis = declaredAxis(declared))) {
            const Dims before(m_dims.begin(), m_dims.begin() + static_cast<std::ptrdiff_t>(*axis));
            m_runs = static_cast<std::size_t>(std::max<std::int64_t>(1, elementCount(before)));
        }
        const auto total = static_cast<std::int64_t>(samples);
        if (axis)
            m_dims[*axis] = m_dims[*axis] / desc.samples.count * total;
        else
            m_dims.insert(m_dims.begin(), total);
        m_samples = samples;
        m_block = desc.bytes() / (m_runs * m_count);
        m_bytes.resize(m_block * m_runs * samples);
    }

    bool perSample() const { return m_perSample; }

    /// Copies the values of a chunk that belong to no single sample.
    void putChunk(const std::byte* chunk, std::size_t index) {
        if (m_block > 0 && index < m_chunks) std::memcpy(m_bytes.data() + index * m_block, chunk, m_block);
    }
    /// Copies sample `from` of a chunk to sample `to` of the array.
    void put(const std::byte* chunk, std::size_t from, std::size_t to) {
        for (std::size_t run = 0; run < m_runs && m_block > 0; ++run)
            std::memcpy(m_bytes.data() + (run * m_samples + to) * m_block,
                        chunk + (run * m_count + from) * m_block, m_block);
    }

    /// Values that belong to no single sample are returned once if they are the same in all chunks, otherwise
    /// with a first dimension for the chunks.
    ConstantPtr take() {
        if (!m_perSample && m_block > 0) {
            if (std::equal(m_bytes.begin() + static_cast<std::ptrdiff_t>(m_block), m_bytes.end(),
                           m_bytes.begin()))
                m_bytes.resize(m_block);
            else
                m_dims.insert(m_dims.begin(), static_cast<std::int64_t>(m_bytes.size() / m_block));
        }
        return Constant::fromBytes(m_type, m_dims, std::move(m_bytes));
    }

  private:
    /// Whether the layout for two samples is that of one sample with one dimension doubled.
    bool isPair(const TensorDesc& two) const {
        const std::optional<std::size_t> axis = sampleDimension(two);
        if (!axis || two.dims.size() != m_dims.size()) return false;
        Dims expected = m_dims;
        expected[*axis] *= 2;
        return two.dims == expected;
    }

    /// The dimension of extent 1 that is the batch by its name, or else the first one.
    std::optional<std::size_t> declaredAxis(const std::optional<Shape>& declared) const {
        const auto named =
            declared && declared->size() == m_dims.size() ? batchDimension(*declared) : std::nullopt;
        if (named && m_dims[*named] == 1) return named;
        if (m_dims.empty() || m_dims[0] != 1) return {};
        return 0;
    }

    DataType m_type;
    Dims m_dims;
    bool m_perSample = false;
    std::size_t m_runs = 1, m_count = 1, m_samples = 0, m_block = 0;
    std::size_t m_chunks = 1;  ///< without samples: for how many chunks the values are kept
    std::vector<std::byte> m_bytes;
};

/// Sets the outputs that do not depend on the values of the samples. They may depend on the number of
/// samples, so `spec` describes a batch of all samples.
void putConstants(ProgramSpec spec, const Program& program, std::vector<ConstantPtr>& arrays) {
    const std::vector<TensorId> ends = spec.observed;
    std::erase_if(spec.observed, [&](TensorId end) { return program.constantValue(end) == nullptr; });
    if (spec.observed.empty()) return;
    const auto all = Program::compile(std::move(spec));
    for (std::size_t o = 0; o < ends.size(); ++o)
        if (program.constantValue(ends[o]) && all->constantValue(ends[o]))
            arrays[o] = all->constantValue(ends[o]);
}

}  // namespace

std::vector<ConstantPtr> Session::outputs(const std::optional<QuantizationConfig>& config,
                                          const CancelToken& cancel) try {
    SessionParts& parts = *m_parts;
    parts.samples.requireEvaluable();
    const RunControl control = parts.runner.control(cancel);
    const SampleBatches& batches = parts.samples.batches();
    const DatasetPtr& data = parts.samples.evaluation();
    const std::vector<std::size_t>& order = parts.samples.order();
    const auto plan = config ? parts.plan(*config, control) : nullptr;
    const GraphPtr graph = plan ? plan->prepared->graph : parts.model.graph;
    const std::vector<TensorId> ends(graph->outputs().begin(), graph->outputs().end());
    const auto specFor = [&](const SampleBatches& samples) {
        const auto inputs = samples.inputsOf(*graph);
        ProgramSpec spec = plan ? plan->networkSpec(inputs, ends) : floatProgram(graph, inputs, ends);
        spec.kernels = parts.runner.kernels();
        return spec;
    };
    if (!parts.samples.part().whole()) {
        const SampleBatches single(data, *parts.model.graph, 1);
        parts.samples.part().requireBatchOfOne(*parts.model.graph, single.batch());
        return outputsBySample(specFor(single), single, order, cancel);
    }
    const auto program = Program::compile(specFor(batches));
    // With a batch of two, only for its layouts: the samples may be in a dimension other than the first, or
    // in one of several dimensions of extent 1.
    std::shared_ptr<const Program> pair;
    const bool asksForPair = batches.batch() == 1 && std::any_of(ends.begin(), ends.end(), [&](TensorId end) {
                                 const TensorDesc& desc = program->desc(end);
                                 return desc.samples.perSample() && (desc.dims.empty() || desc.dims[0] != 1 ||
                                                                     std::ranges::count(desc.dims, 1) > 1);
                             });
    if (asksForPair) {
        try {
            pair = Program::compile(specFor(SampleBatches(data, *parts.model.graph, 2)));
        } catch (const Error&) {
            pair = nullptr;
        }
    }
    const bool together = parts.samples.together() == batches.batch();
    std::vector<OutputArray> arrays;
    for (const TensorId end : ends)
        arrays.emplace_back(outputDesc(program->desc(end), batches), pair ? &pair->desc(end) : nullptr,
                            graph->tensor(end).shape, batches);
    runChunks({program}, batches, 0, batches.chunks(), control,
              [&](std::size_t chunk, std::size_t, std::vector<Workspace>& workspaces) {
                  std::vector<std::byte> plain;
                  for (std::size_t o = 0; o < ends.size(); ++o) {
                      const TensorDesc& desc = program->desc(ends[o]);
                      plain.resize(desc.bytes());
                      if (!plain.empty())
                          convertLayout(desc, workspaces[0].data(ends[o]), Layout::Plain, plain.data());
                      if (!arrays[o].perSample()) {
                          arrays[o].putChunk(
                              plain.data(),
                              together ? order[chunk * batches.batch()] / batches.batch() : chunk);
                          continue;
                      }
                      for (std::size_t s = 0; s < batches.samplesIn(chunk); ++s)
                          arrays[o].put(plain.data(), s, order[chunk * batches.batch() + s]);
                  }
              });
    std::vector<ConstantPtr> result;
    for (OutputArray& array : arrays) result.push_back(array.take());
    putConstants(specFor(SampleBatches(data, *parts.model.graph, batches.samples())), *program, result);
    return result;
} catch (...) {
    m_parts->rethrowWithModel();
}

}  // namespace quantloupe
