// SPDX-License-Identifier: Apache-2.0
#include "session/studies/layer_work.h"

#include <unordered_map>

#include "model/layer_cost.h"
#include "model/moved_constants.h"
#include "model/operator_traits.h"
#include "results/layer_host.h"
#include "session/session_parts.h"

namespace quantloupe {
namespace {

bool isCode(DataType type) {
    return type != DataType::Float32 && type != DataType::Float16 && type != DataType::BFloat16 &&
           type != DataType::Float64;
}

/// Numbers the constants that several layers read.
std::unordered_map<const Constant*, std::size_t> sharedConstants(const Graph& graph,
                                                                 const std::vector<LayerResult>& layers) {
    std::unordered_map<const Constant*, std::size_t> readers, shared;
    for (const LayerResult& layer : layers)
        for (const Constant* constant : parametersOf(graph, graph.node(layer.node)))
            if (++readers[constant] == 2) shared.emplace(constant, shared.size());
    return shared;
}

/// Counts the constants that a layer reads. What it multiplies with its input are weights.
void countParameters(const Graph& graph, const Node& node,
                     const std::unordered_map<const Constant*, std::size_t>& shared, LayerWork& work) {
    const OperatorKind kind = traitsOf(node).kind;
    const bool multiplies =
        kind == OperatorKind::Convolution || kind == OperatorKind::Product || kind == OperatorKind::Recurrent;
    // The biases of recurrent layers have two dimensions, too.
    const std::vector<const Constant*> biases = kind == OperatorKind::Recurrent
                                                    ? rootConstants(graph, node.input(3))
                                                    : std::vector<const Constant*>{};
    for (const Constant* constant : parametersOf(graph, node)) {
        const bool weight = multiplies && !isCode(constant->type()) && constant->dims().size() > 1 &&
                            !std::ranges::count(biases, constant);
        const auto size = static_cast<std::uint64_t>(constant->size());
        (weight ? work.weights : work.others) += size;
        if (const auto found = shared.find(constant); found != shared.end())
            work.shared.push_back({found->second, size, weight});
    }
}

/// Returns the number of elements of a tensor per sample; empty if its shape is unknown.
std::optional<std::uint64_t> elementsOf(const Graph& graph, TensorId tensor, const MeasuredShapes& measured) {
    if (const Dims* dims = measuredDims(graph, tensor, measured))
        return static_cast<std::uint64_t>(elementCount(*dims)) / measured.samples;
    if (const auto& assumed = graph.tensor(tensor).assumedDims)
        return static_cast<std::uint64_t>(elementCount(*assumed));
    const auto& shape = graph.tensor(tensor).shape;
    if (!shape) return std::nullopt;
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < shape->size(); ++d) {
        const Dim& dim = (*shape)[d];
        if (!dim.known() && d > 0) return std::nullopt;
        if (dim.known()) count *= static_cast<std::uint64_t>(dim.value);
    }
    return count;
}

std::uint64_t activationElements(const Graph& graph, const Node& node, const MeasuredShapes& measured) {
    std::uint64_t sum = 0;
    for (const auto* tensors : {&node.inputs, &node.outputs})
        for (const TensorId tensor : *tensors) {
            if (!tensor.valid() || graph.constantOf(tensor) != nullptr) continue;
            const auto count = elementsOf(graph, tensor, measured);
            if (!count) return 0;
            sum += *count;
        }
    return sum;
}

}  // namespace

NetworkWork networkWork(Session& session, const Evaluation& evaluation) {
    const Graph& graph = session.graph();
    const MeasuredShapes& measured = partsOf(session).runner.sourceShapes();
    NetworkWork work;
    const auto shared = sharedConstants(graph, evaluation.layers);
    const LayerCosts costs(graph, measured);
    for (const LayerResult& layer : evaluation.layers) {
        const Node& node = graph.node(layer.node);
        const LayerCost cost = costs.of(node);
        LayerWork one;
        one.name = layer.name;
        one.host = hostOf(graph, evaluation.layers, layer.node.index());
        one.quantizable = layer.quantizable;
        one.macs = cost.macs;
        one.macsKnown = cost.macsReason.empty();
        countParameters(graph, node, shared, one);
        one.activations = activationElements(graph, node, measured);
        one.precision = layer.precision;
        work.push_back(std::move(one));
    }
    return work;
}

}  // namespace quantloupe
