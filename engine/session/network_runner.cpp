// SPDX-License-Identifier: Apache-2.0
#include "session/network_runner.h"

#include "base/error.h"
#include "base/process_group.h"
#include "model/assumed_sizes.h"

namespace quantloupe {

NetworkRunner::NetworkRunner(GraphPtr source, SessionSamples& samples, const SessionOptions& options,
                             std::size_t memory)
    : m_source(std::move(source)),
      m_samples(samples),
      m_group(options.group),
      m_workers(options.threads, options.background),
      m_activations(memory) {}

const GraphShapes& NetworkRunner::shapesFor(const GraphPtr& graph, const SampleBatches& batches) {
    const std::map<TensorId, TensorDesc> inputs = batches.inputsOf(*graph);
    VersionBuilder key;
    key.add(graph->version());
    for (const auto& [input, desc] : inputs) key.add(toString(desc.dims));
    const Version version = key.finish();
    if (m_shapes.find(version) == nullptr)
        m_shapes.store(version, std::make_shared<const GraphShapes>(
                                    shapesOf(graph, inputs, m_samples.part().endsOf(*graph), m_kernels)));
    return **m_shapes.find(version);
}

const GraphShapes& NetworkRunner::shapesFor(const GraphPtr& graph) {
    const SampleBatches& batches = m_samples.batches();
    const GraphShapes& shapes = shapesFor(graph, batches);
    if (graph == m_source && !m_sourceShapes.dims) m_sourceShapes = {shapes.dims, batches.batch()};
    return shapes;
}

ResumeOptions NetworkRunner::resumeOptions(const GraphPtr& graph) {
    return {m_group ? m_noActivations : m_activations, shapesFor(graph), m_samples.version()};
}

ResumeOptions NetworkRunner::calibrationOptions(const GraphPtr& graph, const CalibrationSamples& samples) {
    return {m_group ? m_noActivations : m_activations, shapesFor(graph, samples.batches), samples.version};
}

ResumeOptions NetworkRunner::sharedResumeOptions(const GraphPtr& graph) {
    return {m_activations, shapesFor(graph), m_samples.version(), true, nullptr, shardOf(m_group.get())};
}

const MeasuredShapes& NetworkRunner::assumedShapes() {
    if (m_assumedShapes) return *m_assumedShapes;
    m_assumedShapes.emplace();
    std::map<TensorId, TensorDesc> inputs;
    std::vector<Dims> dims = assumedInputDims(*m_source);
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const TensorInfo& tensor = m_source->tensor(m_source->inputs()[i]);
        if (!tensor.shape) return *m_assumedShapes;
        inputs.emplace(m_source->inputs()[i], TensorDesc{tensor.type, std::move(dims[i]), Layout::Plain});
    }
    try {
        m_assumedShapes->dims =
            shapesOf(m_source, inputs, {m_source->outputs().begin(), m_source->outputs().end()}, nullptr)
                .dims;
    } catch (const Error&) {
        // Not every network accepts these sizes, and not every operator is supported.
    }
    return *m_assumedShapes;
}

void NetworkRunner::clear() {
    m_kernels->clear();
    m_activations.clear();
    RecycledMemory::trim();
    m_shapes.clear();
    m_sourceShapes = {};
}

}  // namespace quantloupe
