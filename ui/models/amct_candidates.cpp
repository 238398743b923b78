// SPDX-License-Identifier: Apache-2.0
#include "models/amct_candidates.h"

#include <algorithm>

namespace quantloupe::ui {

namespace {

bool carriesWeights(const LayerResult& layer) { return layer.quantizable && layer.parameters > 0; }

/// Returns the first weighted layers on each path from `start`; `next` returns the neighbors to continue
/// with.
template <typename Next>
NodeSet firstWeighted(const std::vector<LayerResult>& layers, std::vector<NodeId> walk, Next next) {
    NodeSet seen(layers.size()), found(layers.size());
    while (!walk.empty()) {
        const NodeId node = walk.back();
        walk.pop_back();
        if (!node.valid() || seen[node.index()]) continue;
        seen[node.index()] = true;
        if (carriesWeights(layers[node.index()]))
            found[node.index()] = true;
        else
            next(node, walk);
    }
    return found;
}

NodeSet inputLayers(const Graph& graph, const std::vector<LayerResult>& layers) {
    const auto consumers = [&](TensorId tensor, std::vector<NodeId>& walk) {
        if (!tensor.valid()) return;
        const auto& readers = graph.tensor(tensor).consumers;
        walk.insert(walk.end(), readers.begin(), readers.end());
    };
    std::vector<NodeId> start;
    for (const TensorId input : graph.inputs()) consumers(input, start);
    return firstWeighted(layers, start, [&](NodeId node, std::vector<NodeId>& walk) {
        for (const TensorId output : graph.node(node).outputs) consumers(output, walk);
    });
}

NodeSet outputLayers(const Graph& graph, const std::vector<LayerResult>& layers) {
    std::vector<NodeId> start;
    for (const TensorId output : graph.outputs()) start.push_back(graph.tensor(output).producer);
    return firstWeighted(layers, start, [&](NodeId node, std::vector<NodeId>& walk) {
        for (const TensorId input : graph.node(node).inputs)
            if (input.valid()) walk.push_back(graph.tensor(input).producer);
    });
}

/// Returns a tenth of the median of the weighted layers; layers below it have few parameters.
std::uint64_t fewParameters(const std::vector<LayerResult>& layers) {
    std::vector<std::uint64_t> counts;
    for (const LayerResult& layer : layers)
        if (carriesWeights(layer)) counts.push_back(layer.parameters);
    if (counts.empty()) return 0;
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::ranges::nth_element(counts, middle);
    return *middle / 10;
}

}  // namespace

std::vector<SkipCandidates> skipCandidates(const Graph& graph, const std::vector<LayerResult>& layers) {
    if (layers.size() != graph.nodeCount()) return {};
    std::vector<SkipCandidates> all;
    const auto add = [&](SkipReason reason, std::uint64_t detail, const auto& fits) {
        SkipCandidates candidates{reason, {}, 0, detail};
        for (const LayerResult& layer : layers) {
            if (!fits(layer)) continue;
            if (layer.state == LayerState::Quantized) candidates.quantized.push_back(layer.node);
            if (layer.state == LayerState::Skipped) ++candidates.inFloat;
        }
        all.push_back(std::move(candidates));
    };
    const NodeSet inputs = inputLayers(graph, layers), outputs = outputLayers(graph, layers);
    add(SkipReason::Input, 0, [&](const LayerResult& layer) { return inputs[layer.node.index()]; });
    add(SkipReason::Output, 0, [&](const LayerResult& layer) { return outputs[layer.node.index()]; });
    const std::uint64_t few = fewParameters(layers);
    add(SkipReason::FewParameters, few,
        [&](const LayerResult& layer) { return carriesWeights(layer) && layer.parameters < few; });
    const auto below = [](const std::optional<TensorDifference>& difference) {
        return difference && difference->cosine < kAmctCosine;
    };
    const auto cumulative = static_cast<std::uint64_t>(std::ranges::count_if(
        layers, [&](const LayerResult& l) { return l.quantizable && below(l.cumulative); }));
    add(SkipReason::LowCosine, cumulative,
        [&](const LayerResult& layer) { return layer.quantizable && below(layer.local); });
    return all;
}

}  // namespace quantloupe::ui
