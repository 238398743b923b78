// SPDX-License-Identifier: Apache-2.0
#include "config/tail_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/layer_cost.h"
#include "model/moved_constants.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

bool computes(const Graph& graph, const Node& node) {
    if (isMove(node) || isOp(node, "Dropout") || isOp(node, "Shape")) return false;
    if (!node.output().valid()) return false;
    const DataType type = graph.tensor(node.output()).type;
    return type != DataType::Int64 && type != DataType::Int32 && type != DataType::Bool;
}

/// Returns the number of weight elements of a matrix product or recurrent layer; 0 for other nodes.
std::uint64_t weightOf(const Graph& graph, const Node& node) {
    const OperatorKind kind = traitsOf(node).kind;
    if (kind != OperatorKind::Product && kind != OperatorKind::Recurrent) return 0;
    std::uint64_t elements = 0;
    for (const TensorId input : node.inputs)
        for (const Constant* constant : rootConstants(graph, input))
            if (constant->dims().size() > 1) elements += static_cast<std::uint64_t>(constant->size());
    return elements;
}

std::optional<double> weightsShareOf(const Graph& graph, const NodeSet& nodes) {
    std::uint64_t all = 0, covered = 0;
    for (std::size_t n = 0; n < graph.nodeCount(); ++n) {
        const Node& node = graph.node(NodeId(n));
        if (traitsOf(node).kind == OperatorKind::Convolution) return std::nullopt;
        const std::uint64_t weight = weightOf(graph, node);
        all += weight;
        if (nodes[n]) covered += weight;
    }
    if (all == 0) return std::nullopt;
    return static_cast<double>(covered) / static_cast<double>(all);
}

/// Sets Tail::share and Tail::ofWeights.
void measureShare(const Graph& graph, Tail& tail) {
    std::uint64_t all = 0, covered = 0;
    bool assumed = false, unknown = false;
    const LayerCosts costs(graph);
    for (std::size_t n = 0; n < graph.nodeCount() && !unknown; ++n) {
        const LayerCost cost = costs.of(graph.node(NodeId(n)));
        unknown = !cost.macsReason.empty();
        assumed = assumed || cost.assumed;
        all += cost.macs;
        if (tail.nodes[n]) covered += cost.macs;
    }
    // Without convolutions, every weight is used once per token: the assumed number of tokens does not
    // matter.
    if (assumed || unknown) tail.share = weightsShareOf(graph, tail.nodes);
    tail.ofWeights = tail.share.has_value();
    if (tail.share || unknown || all == 0) return;
    tail.share = static_cast<double>(covered) / static_cast<double>(all);
}

}  // namespace

Tail tailToSkip(const Graph& source, bool whole) {
    Tail tail;
    tail.nodes = tailOf(source);
    for (std::size_t n = 0; n < source.nodeCount(); ++n)
        if (tail.nodes[n] && computes(source, source.node(NodeId(n)))) ++tail.layers;
    if (tail.layers == 0) return tail;
    measureShare(source, tail);
    if (whole || (tail.layers <= kMaxTailLayers && tail.share.value_or(0) <= kMaxTailMacs)) return tail;
    const char* const of = tail.ofWeights ? "weights" : "MACs";
    tail.whyNot = fmt::format(
        "the tail is quantized: skipping it would keep {} of {} layers{} in float, and only tails of up to "
        "{} layers and {:g} % of the {} are skipped by default; set skip.whole_tail to true to skip it",
        std::ranges::count(tail.nodes, true), source.nodeCount(),
        tail.share ? fmt::format(" with {:.3g} % of the {}", 100 * *tail.share, of) : "", kMaxTailLayers,
        100 * kMaxTailMacs, of);
    return tail;
}

}  // namespace quantloupe
