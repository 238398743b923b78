// SPDX-License-Identifier: Apache-2.0
#include "session/stages/source_reference.h"

#include <map>

namespace quantloupe {
namespace {

/// Returns the factors of each tensor of the prepared graph that belongs to a junction.
std::map<TensorId, std::vector<float>> junctionFactors(const Prepared& prepared) {
    std::map<TensorId, std::vector<float>> factors;
    for (const EqualizationJunction& junction : prepared.junctions) {
        if (!junction.enabled) continue;
        for (const TensorId tensor : junction.tensors) factors.emplace(tensor, junction.factors);
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
            counterpart.reason = "the source network does not have this tensor";
        } else if (junction != factors.end() && highBiasFold) {
            counterpart.reason = "high-bias folding may have shifted this tensor by an unknown amount";
        } else {
            counterpart.tensor = *same;
            if (junction != factors.end()) counterpart.factors = junction->second;
        }
        reference.units.push_back(std::move(counterpart));
    }
    return reference;
}

}  // namespace quantloupe
