// SPDX-License-Identifier: Apache-2.0
// Each round mixes a layer's hash with those of its neighbors, as in the Weisfeiler-Lehman test. After k
// rounds, two layers with equal hashes have equal neighborhoods up to k steps away. Repeated blocks still
// have equal hashes and are distinguished by their order (layer_match.h).

#include "session/caches/layer_signature.h"

#include <algorithm>

namespace quantloupe {
namespace {

constexpr int kRounds = 2;

void addShape(VersionBuilder& builder, const std::optional<Shape>& shape) {
    builder.add(shape ? shape->size() : std::size_t(-1));
    if (!shape) return;
    for (const Dim& dim : *shape) builder.add(dim.value);  // the name of a symbol is irrelevant
}

Version localHash(const Graph& graph, const Node& node) {
    VersionBuilder builder;
    builder.add(std::string_view(node.domain)).add(std::string_view(node.op));
    for (const auto& [name, value] : node.attributes)
        builder.add(std::string_view(name)).add(std::string_view(toString(value)));
    for (const TensorId input : node.inputs) {
        const Constant* constant = graph.constantOf(input);
        builder.add(!input.valid() ? 'o' : constant ? 'c' : graph.tensor(input).graphInput ? 'i' : 't');
        if (constant) builder.add(std::string_view(toString(constant->dims())));
    }
    for (const TensorId output : node.outputs) {
        builder.add(output.valid());
        if (!output.valid()) continue;
        addShape(builder, graph.tensor(output).shape);
        builder.add(graph.tensor(output).graphOutput);
    }
    return builder.finish();
}

std::vector<Version> mixNeighbors(const Graph& graph, const std::vector<Version>& hashes) {
    std::vector<Version> mixed;
    mixed.reserve(hashes.size());
    for (std::size_t n = 0; n < hashes.size(); ++n) {
        const Node& node = graph.node(NodeId(n));
        VersionBuilder builder;
        builder.add(hashes[n]);
        for (const TensorId input : node.inputs) {
            const NodeId producer = input.valid() ? graph.tensor(input).producer : NodeId();
            builder.add(producer.valid() ? hashes[producer.index()] : Version{});
        }
        for (const TensorId output : node.outputs) {
            if (!output.valid()) continue;
            std::vector<Version> readers;  // unordered because the order in the file is irrelevant
            for (const NodeId reader : graph.tensor(output).consumers)
                readers.push_back(hashes[reader.index()]);
            std::ranges::sort(readers);
            builder.add(readers.size());
            for (const Version& reader : readers) builder.add(reader);
        }
        mixed.push_back(builder.finish());
    }
    return mixed;
}

}  // namespace

std::vector<LayerSignature> layerSignatures(const Graph& graph) {
    std::vector<Version> local;
    for (const Node& node : graph.nodes()) local.push_back(localHash(graph, node));
    std::vector<Version> wide = local;
    for (int round = 0; round < kRounds; ++round) wide = mixNeighbors(graph, wide);
    std::vector<LayerSignature> signatures;
    for (std::size_t n = 0; n < local.size(); ++n) {
        const Node& node = graph.node(NodeId(n));
        signatures.push_back({node.name, node.op, local[n], wide[n]});
    }
    return signatures;
}

}  // namespace quantloupe
