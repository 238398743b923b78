// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/sample_batches.h"

#include <cstring>
#include <set>

#include "base/error.h"

namespace quantloupe {
namespace {

TensorDesc batchDesc(const TensorInfo& info, const SampleTensor& sample, std::size_t& batch) {
    TensorDesc desc{sample.type, sample.dims, Layout::Plain};
    if (sample.type != info.type && info.type != DataType::Undefined)
        failInput("the input '{}' takes {}, but the samples are {}", info.name, dataTypeName(info.type),
                  dataTypeName(sample.type));
    if (!info.shape) {
        desc.dims.insert(desc.dims.begin(), static_cast<std::int64_t>(batch));
        return desc;
    }
    const Shape& shape = *info.shape;
    bool fits = shape.size() == sample.dims.size() + 1;
    for (std::size_t d = 1; fits && d < shape.size(); ++d)
        fits = !shape[d].known() || shape[d].value == sample.dims[d - 1];
    if (!fits)
        failInput(
            "the input '{}' takes {}, but a sample is {} (without the batch); is the preprocessing right?",
            info.name, toString(shape), toString(sample.dims));
    if (shape[0].known()) batch = static_cast<std::size_t>(std::max<std::int64_t>(1, shape[0].value));
    desc.dims.insert(desc.dims.begin(), static_cast<std::int64_t>(batch));
    return desc;
}

/// A state such as "2×batch×16" next to an input "batch×400": the second dimension separates the samples.
void requireSamplesFirst(const Graph& graph) {
    std::set<std::string> batches;
    for (const TensorId input : graph.inputs())
        if (const auto& shape = graph.tensor(input).shape; shape && !shape->empty())
            batches.insert(shape->front().symbol);
    batches.erase("");
    for (const TensorId input : graph.inputs()) {
        const TensorInfo& tensor = graph.tensor(input);
        if (!tensor.shape || tensor.shape->empty() || !tensor.shape->front().known()) continue;
        for (const Dim& dim : *tensor.shape)
            if (batches.contains(dim.symbol))
                fail(ErrorKind::Unsupported,
                     "the input '{}' is {}: its samples are not in the first dimension, but in '{}'; export "
                     "the "
                     "model with the samples first, and transpose this input inside",
                     tensor.name, toString(*tensor.shape), dim.symbol);
    }
}

}  // namespace

SampleBatches::SampleBatches(DatasetPtr dataset, const Graph& graph, std::size_t batch, std::size_t keptBytes)
    : m_dataset(std::move(dataset)), m_batch(batch) {
    if (m_dataset->size() == 0) failInput("the data is empty");
    const std::vector<SampleTensor> first = m_dataset->sample(0);
    if (first.size() != graph.inputs().size())
        failInput("the network has {} inputs, but the data provides {}", graph.inputs().size(), first.size());
    requireSamplesFirst(graph);
    m_inputs.resize(first.size());
    for (std::size_t pass = 0; pass < 2; ++pass)  // a batch size fixed by any input applies to all
        for (std::size_t i = 0; i < first.size(); ++i)
            m_inputs[i] = batchDesc(graph.tensor(graph.inputs()[i]), first[i], m_batch);
    for (std::size_t i = 0; i < first.size(); ++i)
        if (m_inputs[i].dims[0] != static_cast<std::int64_t>(m_batch))
            failInput(
                "the inputs '{}' and '{}' fix batches of {} and {}, so samples cannot be separated; export "
                "the model with "
                "one batch dimension",
                graph.tensor(graph.inputs()[i]).name, graph.tensor(graph.inputs().back()).name,
                m_inputs[i].dims[0], m_batch);
    for (const SampleTensor& tensor : first) m_sampleBytes += tensor.bytes.size();
    m_cache.resize(std::min(m_dataset->size(), keptBytes / std::max<std::size_t>(m_sampleBytes, 1)));
}

std::map<TensorId, TensorDesc> SampleBatches::inputsOf(const Graph& graph) const {
    std::map<TensorId, TensorDesc> inputs;
    for (std::size_t i = 0; i < m_inputs.size(); ++i) {
        TensorDesc& input = inputs[graph.inputs()[i]] = m_inputs[i];
        input.samples = {1, static_cast<std::int64_t>(m_batch)};
    }
    return inputs;
}

SampleBatches::Sample SampleBatches::sample(std::size_t index) const {
    if (index < m_cache.size()) {
        const std::lock_guard lock(m_mutex);
        if (m_cache[index]) return m_cache[index];
    }
    auto decoded = std::make_shared<const std::vector<SampleTensor>>(m_dataset->sample(index));
    for (std::size_t i = 0; i < m_inputs.size(); ++i) {
        const SampleTensor& tensor = (*decoded)[i];
        const TensorDesc& desc = m_inputs[i];
        if (!std::equal(tensor.dims.begin(), tensor.dims.end(), desc.dims.begin() + 1, desc.dims.end()))
            failInput(
                "'{}' is {} where the others are {}; all samples must have one size: set a resize in the "
                "preprocessing",
                m_dataset->sampleName(index), toString(tensor.dims),
                toString(Dims(desc.dims.begin() + 1, desc.dims.end())));
    }
    if (index < m_cache.size()) {
        const std::lock_guard lock(m_mutex);
        m_cache[index] = decoded;
    }
    return decoded;
}

std::vector<std::vector<std::byte>> SampleBatches::load(std::size_t chunk) const {
    std::vector<std::vector<std::byte>> buffers;
    for (const TensorDesc& input : m_inputs) buffers.emplace_back(input.bytes());
    const std::size_t present = samplesIn(chunk);
    for (std::size_t s = 0; s < m_batch; ++s) {
        const Sample values = sample(chunk * m_batch + std::min(s, present - 1));
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            const std::vector<std::byte>& bytes = (*values)[i].bytes;
            std::memcpy(buffers[i].data() + s * bytes.size(), bytes.data(), bytes.size());
        }
    }
    return buffers;
}

}  // namespace quantloupe
