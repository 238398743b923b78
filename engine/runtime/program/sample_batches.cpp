// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/sample_batches.h"

#include "base/error.h"
#include "base/memory_limit.h"
#include "model/sample_axes.h"

namespace quantloupe {
namespace {

TensorDesc batchDesc(const TensorInfo& info, const SampleTensor& sample, std::optional<std::size_t> axis,
                     std::size_t& batch) {
    TensorDesc desc{sample.type, sample.dims, Layout::Plain};
    if (sample.type != info.type && info.type != DataType::Undefined)
        failInput("the input '{}' takes {}, but the samples are {}", info.name, dataTypeName(info.type),
                  dataTypeName(sample.type));
    bool fits = !axis || axis <= sample.dims.size();
    if (fits && axis)
        desc.dims.insert(desc.dims.begin() + static_cast<std::ptrdiff_t>(*axis),
                         static_cast<std::int64_t>(batch));
    if (info.shape) {
        const Shape& shape = *info.shape;
        fits = fits && shape.size() == desc.dims.size();
        for (std::size_t d = 0; fits && d < shape.size(); ++d)
            fits = d == axis || !shape[d].known() || shape[d].value == desc.dims[d];
        if (!fits)
            failInput(
                "the input '{}' takes {}, but a sample is {} (without the batch); is the preprocessing "
                "right?",
                info.name, toString(shape), toString(sample.dims));
        if (axis && shape[*axis].known()) {
            batch = static_cast<std::size_t>(std::max<std::int64_t>(1, shape[*axis].value));
            desc.dims[*axis] = static_cast<std::int64_t>(batch);
        }
    }
    if (axis) {
        const Dims before(desc.dims.begin(), desc.dims.begin() + static_cast<std::ptrdiff_t>(*axis));
        desc.samples = {batch == 1 ? 1 : elementCount(before), static_cast<std::int64_t>(batch)};
    }
    return desc;
}

}  // namespace

SampleBatches::SampleBatches(DatasetPtr dataset, const Graph& graph, std::size_t batch, std::size_t keptBytes)
    : m_dataset(std::move(dataset)), m_batch(batch) {
    if (m_dataset->size() == 0) failInput("the data is empty");
    const std::vector<SampleTensor> first = m_dataset->sample(0);
    if (first.size() != graph.inputs().size())
        failInput("the network has {} inputs, but the data provides {}", graph.inputs().size(), first.size());
    m_axes = sampleAxes(graph);
    const bool oneSet = sampleIsOneSet(m_axes);
    if (oneSet) m_batch = 1;
    m_inputs.resize(first.size());
    for (std::size_t pass = 0; pass < 2; ++pass)  // a batch size fixed by any input applies to all
        for (std::size_t i = 0; i < first.size(); ++i)
            m_inputs[i] = batchDesc(graph.tensor(graph.inputs()[i]), first[i], m_axes[i], m_batch);
    const auto fixesBatch = [&](std::size_t i) {
        const auto& shape = graph.tensor(graph.inputs()[i]).shape;
        return m_axes[i] && shape && (*shape)[*m_axes[i]].known();
    };
    std::size_t last = 0;  // the one whose batch size is used
    for (std::size_t i = 0; i < first.size(); ++i)
        if (fixesBatch(i)) last = i;
    for (std::size_t i = 0; i < first.size(); ++i)
        if (fixesBatch(i) && m_inputs[i].samples.count != static_cast<std::int64_t>(m_batch))
            failInput(
                "the inputs '{}' and '{}' fix batches of {} and {}, so samples cannot be separated; export "
                "the model with one batch dimension",
                graph.tensor(graph.inputs()[i]).name, graph.tensor(graph.inputs()[last]).name,
                m_inputs[i].samples.count, m_batch);
    for (std::size_t i = 0; i < first.size(); ++i) {
        m_sampleBytes += first[i].bytes.size();
        m_inputNames.push_back(graph.tensor(graph.inputs()[i]).name);
        m_shared.push_back(m_axes[i] || oneSet ? std::nullopt : std::optional(first[i].bytes));
        if (oneSet) m_inputs[i].samples = {1, 1};
    }
    m_cache.resize(std::min(m_dataset->size(), keptBytes / std::max<std::size_t>(m_sampleBytes, 1)));
}

std::map<TensorId, TensorDesc> SampleBatches::inputsOf(const Graph& graph) const {
    std::map<TensorId, TensorDesc> inputs;
    for (std::size_t i = 0; i < m_inputs.size(); ++i) inputs[graph.inputs()[i]] = m_inputs[i];
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
        Dims expected = m_inputs[i].dims;
        if (m_axes[i]) expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(*m_axes[i]));
        if (tensor.dims != expected)
            failInput(
                "'{}' is {} where the others are {}; all samples must have one size: set a resize in the "
                "preprocessing",
                m_dataset->sampleName(index), toString(tensor.dims), toString(expected));
        if (m_shared[i] && tensor.bytes != *m_shared[i])
            failInput(
                "the input '{}' has no dimension for samples, so all samples must have the same value; "
                "'{}' has another one than '{}'",
                m_inputNames[i], m_dataset->sampleName(index), m_dataset->sampleName(0));
    }
    if (index < m_cache.size()) {
        const std::lock_guard lock(m_mutex);
        m_cache[index] = decoded;
    }
    return decoded;
}

std::vector<std::vector<std::byte>> SampleBatches::load(std::size_t chunk) const {
    std::vector<std::vector<std::byte>> buffers;
    for (const TensorDesc& input : m_inputs) {
        requireMemory(input.bytes());
        buffers.emplace_back(input.bytes());
    }
    const std::size_t present = samplesIn(chunk);
    for (std::size_t s = 0; s < m_batch; ++s) {
        const Sample values = sample(chunk * m_batch + std::min(s, present - 1));
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            const std::vector<std::byte>& bytes = (*values)[i].bytes;
            const auto runs = static_cast<std::size_t>(std::max<std::int64_t>(1, m_inputs[i].samples.runs));
            const std::size_t block = bytes.size() / runs, place = m_axes[i] ? s : 0;
            const std::size_t stride = m_axes[i] ? block * m_batch : block;
            for (std::size_t run = 0; run < runs; ++run)
                std::copy_n(bytes.data() + run * block, block,  // there are no bytes if an extent is 0
                            buffers[i].data() + run * stride + place * block);
        }
    }
    return buffers;
}

std::map<std::string, ConstantPtr> SampleBatches::arrays(std::size_t chunk) const {
    std::map<std::string, ConstantPtr> arrays;
    std::vector<std::vector<std::byte>> values = load(chunk);
    for (std::size_t i = 0; i < values.size(); ++i)
        arrays[m_inputNames[i]] =
            Constant::fromBytes(m_inputs[i].type, m_inputs[i].dims, std::move(values[i]));
    return arrays;
}

}  // namespace quantloupe
