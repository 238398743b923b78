// SPDX-License-Identifier: Apache-2.0
#include "session/studies/layer_work.h"

#include "model/layer_cost.h"
#include "model/moved_constants.h"
#include "model/operator_traits.h"
#include "session/session_parts.h"

namespace quantloupe {
namespace {

constexpr int kMaxFused = 6;

/// Returns the layer that computes the node. A node that was removed without a host passes its input on
/// unchanged.
std::size_t hostOf(const Graph& graph, const std::vector<LayerResult>& layers, std::size_t node) {
    for (std::size_t step = 0; step < layers.size(); ++step) {
        const LayerResult& layer = layers[node];
        if (layer.state != LayerState::Folded && layer.state != LayerState::Fused) return node;
        auto host = graph.findNode(layer.host);
        const TensorId read = graph.node(layer.node).input(0);
        if (!host && read.valid() && graph.tensor(read).producer.valid()) host = graph.tensor(read).producer;
        if (!host) return node;
        node = host->index();
    }
    return node;
}

/// Returns the number of elements of the constants that a layer multiplies with its input.
std::uint64_t weightElements(const Graph& graph, const Node& node) {
    const OperatorKind kind = traitsOf(node).kind;
    if (kind != OperatorKind::Convolution && kind != OperatorKind::Product && kind != OperatorKind::Recurrent)
        return 0;
    std::uint64_t count = 0;
    for (const TensorId in : node.inputs) {
        const Constant* constant = resolveConstant(graph, in);
        if (constant != nullptr && constant->type() == DataType::Float32 && constant->dims().size() > 1)
            count += static_cast<std::uint64_t>(constant->size());
    }
    return count;
}

/// Returns the number of elements of a tensor per sample; empty if its shape is unknown. A tensor that was
/// fused into the next tensor has the shape of the next tensor.
std::optional<std::uint64_t> elementsOf(const Graph& graph, TensorId tensor, const MeasuredShapes& measured) {
    TensorId known = tensor;
    for (int step = 0; measured.dims && known.valid() && step < kMaxFused; ++step) {
        if (const auto found = measured.dims->find(known); found != measured.dims->end()) {
            std::uint64_t count = 1;
            for (const std::int64_t dim : found->second) count *= static_cast<std::uint64_t>(dim);
            return count / measured.samples;
        }
        const NodeId reader = graph.onlyConsumer(known);
        if (!reader.valid() || !traitsOf(graph.node(reader)).sameShape) break;
        known = graph.node(reader).output();
    }
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
    for (const LayerResult& layer : evaluation.layers) {
        const Node& node = graph.node(layer.node);
        const LayerCost cost = costOf(graph, node, measured);
        LayerWork one;
        one.name = layer.name;
        one.host = hostOf(graph, evaluation.layers, layer.node.index());
        one.quantizable = layer.quantizable;
        one.macs = cost.macs;
        one.macsKnown = cost.macsReason.empty();
        one.weights = std::min(weightElements(graph, node), cost.parameters);
        one.others = cost.parameters - one.weights;
        one.activations = activationElements(graph, node, measured);
        one.precision = layer.precision;
        work.push_back(std::move(one));
    }
    return work;
}

}  // namespace quantloupe
