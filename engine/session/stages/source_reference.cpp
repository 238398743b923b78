// SPDX-License-Identifier: Apache-2.0
#include "session/stages/source_reference.h"

#include <map>

namespace quantloupe {
namespace {

/// Returns the factors of each tensor of the prepared graph that belongs to a junction.
std::map<TensorId, std::vector<float>> junctionFactors(const Prepared& prepared) {
    std::map<TensorId, std::vector<float>> factors;
    for (const Junction& junction : prepared.junctions) {
        if (!junction.enabled) continue;
        for (const TensorId tensor : junction.tensors) factors.emplace(tensor, junction.factors);
    }
    return factors;
}

/// Returns the factors of each tensor of the prepared graph that outlier migration divided.
std::map<TensorId, std::vector<float>> migrationDivisors(const Prepared& prepared) {
    std::map<TensorId, std::vector<float>> factors;
    for (const MigratedInput& migration : prepared.migrations) {
        if (!migration.producer.valid()) continue;
        const TensorId output = prepared.source->node(migration.producer).output();
        if (const auto divided = prepared.graph->findTensor(prepared.source->tensor(output).name))
            factors.emplace(*divided, migration.factors);
    }
    return factors;
}

}  // namespace

SourceReference sourceReference(const Prepared& prepared, const UnitList& units, bool highBiasFold) {
    const auto factors = junctionFactors(prepared), migrated = migrationDivisors(prepared);
    SourceReference reference;
    for (const Unit& unit : units.units) {
        SourceTensor counterpart;
        const auto junction = factors.find(unit.output);
        const auto same = prepared.source->findTensor(prepared.graph->tensor(unit.output).name);
        if (!same) {
            counterpart.reason = "the source network does not have this tensor";
        } else if (junction != factors.end() && migrated.contains(unit.output)) {
            counterpart.reason = "equalization and outlier migration both divided this tensor";
        } else if (junction != factors.end() && highBiasFold) {
            counterpart.reason = "high-bias folding may have shifted this tensor by an unknown amount";
        } else {
            counterpart.tensor = *same;
            if (const auto migration = migrated.find(unit.output); migration != migrated.end()) {
                counterpart.factors = migration->second;
                counterpart.lastAxis = true;
            } else if (junction != factors.end()) {
                counterpart.factors = junction->second;
            }
        }
        reference.units.push_back(std::move(counterpart));
    }
    return reference;
}

}  // namespace quantloupe
