// SPDX-License-Identifier: Apache-2.0
#include "transform/adopt_built.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace quantloupe {

void adoptBuilt(Prepared& prepared, GraphPtr built, const BuiltIds& ids, std::span<const NodeId> hosts) {
    const std::size_t before = prepared.graph->nodeCount();
    std::vector<NodeId> sourceOf(built->nodeCount());
    std::vector<OutputStatistics> outputStatistics(built->nodeCount());
    std::vector<std::string> unevaluated(prepared.unevaluated.empty() ? 0 : built->nodeCount());
    for (std::size_t i = 0; i < before; ++i) {
        const std::size_t now = ids.nodes[i].index();
        sourceOf[now] = prepared.sourceOf[i];
        outputStatistics[now] = std::move(prepared.outputStatistics[i]);
        if (!unevaluated.empty()) unevaluated[now] = std::move(prepared.unevaluated[i]);
    }
    for (std::size_t i = 0; i < hosts.size(); ++i)
        sourceOf[ids.nodes[before + i].index()] = prepared.sourceOf[hosts[i].index()];
    for (NodeId& identity : prepared.ownInputs) identity = ids.nodes[identity.index()];
    for (LayerMapping& mapping : prepared.layerMappings)
        if (mapping.prepared.valid()) mapping.prepared = ids.nodes[mapping.prepared.index()];
    for (Junction& junction : prepared.junctions)
        for (TensorId& tensor : junction.tensors) tensor = ids.tensors[tensor.index()];
    for (std::set<NodeId>* nodes : {&prepared.conversions, &prepared.migrationFactors}) {
        std::set<NodeId> now;
        for (const NodeId node : *nodes) now.insert(ids.nodes[node.index()]);
        *nodes = std::move(now);
    }
    std::map<TensorId, int> activationBits;
    for (const auto& [tensor, bits] : prepared.activationBits)
        activationBits.emplace(ids.tensors[tensor.index()], bits);
    prepared.graph = std::move(built);
    prepared.sourceOf = std::move(sourceOf);
    prepared.outputStatistics = std::move(outputStatistics);
    prepared.unevaluated = std::move(unevaluated);
    prepared.activationBits = std::move(activationBits);
}

}  // namespace quantloupe
