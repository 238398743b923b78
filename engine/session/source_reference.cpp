// SPDX-License-Identifier: Apache-2.0
#include "session/source_reference.h"

#include <map>

namespace quantloupe {
namespace {

/// Factors by tensor of the prepared graph: all tensors of a junction have them.
std::map<TensorId, std::vector<float>> junctionFactors(const Prepared& prepared) {
    std::map<TensorId, std::vector<float>> factors;
    const Graph& graph = *prepared.graph;
    for (const EqualizationSet& set : prepared.sets) {
        if (!set.enabled) continue;
        for (std::size_t j = 0; j + 1 < set.layers.size(); ++j) {
            const NodeId end = prepared.fates[set.layers[j + 1].index()].prepared;
            NodeId node = prepared.fates[set.layers[j].index()].prepared;
            while (node.valid() && node != end) {
                const TensorId tensor = graph.node(node).output();
                const auto [known, added] = factors.emplace(tensor, set.factors[j]);
                for (std::size_t c = 0; !added && c < known->second.size(); ++c) known->second[c] *= set.factors[j][c];
                node = graph.onlyConsumer(tensor);
            }
        }
    }
    return factors;
}

}  // namespace

SourceReference sourceReference(const Prepared& prepared, const UnitList& units, bool highBiasFold) {
    const auto factors = junctionFactors(prepared);
    SourceReference reference;
    for (const Unit& unit : units.units) {
        SourceTensor counterpart;
        const auto junction = factors.find(unit.output);
        const auto same = prepared.source->findTensor(prepared.graph->tensor(unit.output).name);
        if (!same) {
            counterpart.reason = "the source network has no such tensor";
        } else if (junction != factors.end() && highBiasFold) {
            counterpart.reason = "the high-bias fold may have moved a part of this tensor, and does not tell how much";
        } else {
            counterpart.tensor = *same;
            if (junction != factors.end()) counterpart.factors = junction->second;
        }
        reference.units.push_back(std::move(counterpart));
    }
    return reference;
}

}  // namespace quantloupe
