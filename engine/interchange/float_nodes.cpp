// SPDX-License-Identifier: Apache-2.0
#include "interchange/float_nodes.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "interchange/wording.h"

namespace quantloupe {
namespace {

bool among(const std::vector<std::string_view>& ops, std::string_view op) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
}

}  // namespace

std::vector<FloatNode> floatNodes(const ExportSource& source) {
    const Graph& original = *source.prepared->source;
    const Graph& graph = *source.prepared->graph;
    std::map<std::string_view, const LayerResult*> byName;
    for (const LayerResult& layer : source.layers) byName[layer.name] = &layer;
    std::vector<FloatNode> nodes;
    for (std::size_t p = 0; p < graph.nodeCount(); ++p) {
        const NodeId origin = source.prepared->sourceOf.at(p);
        if (!origin.valid() || source.prepared->conversions.contains(NodeId(p))) continue;
        const auto found = byName.find(original.node(origin).name);
        if (found == byName.end())
            fail(ErrorKind::Internal, "no result for the layer '{}'", original.node(origin).name);
        const LayerResult* layer = found->second;
        LayerState state = layer->state;
        if (state == LayerState::Fused)
            if (const auto host = byName.find(layer->host); host != byName.end()) state = host->second->state;
        if (state != LayerState::Skipped && state != LayerState::Float) continue;
        const Node& node = graph.nodes()[p];
        const TensorId output = node.output();
        nodes.push_back({layer->name, node.name, node.op,
                         output.valid() ? graph.tensor(output).name : std::string(), layer->state});
    }
    return nodes;
}

std::vector<std::string> namesOf(const std::vector<FloatNode>& nodes,
                                 const std::vector<std::string_view>& ops) {
    std::vector<std::string> names;
    for (const FloatNode& node : nodes)
        if (among(ops, node.op)) names.push_back(node.name);
    return names;
}

std::vector<std::string> unknownOperatorNotices(const ExportSource& source, std::string_view tool,
                                                const std::vector<std::string_view>& ops) {
    std::map<std::string, std::size_t> counts;
    for (const LayerResult& layer : source.layers)
        if (layer.state == LayerState::Quantized && !among(ops, layer.op)) ++counts[layer.op];
    std::vector<std::string> notices;
    for (const auto& [op, count] : counts)
        notices.push_back(fmt::format("{} leaves {} in float: {}", tool, op, counted(count, "layer")));
    return notices;
}

}  // namespace quantloupe
