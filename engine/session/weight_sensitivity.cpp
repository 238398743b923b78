// SPDX-License-Identifier: Apache-2.0
#include "session/weight_sensitivity.h"

#include "base/error.h"

namespace quantloupe {

void fillWeightDifferences(Session::Impl& session, const Prepared& prepared, const UnitList& units,
                           const QuantizationConfig& config, const CancelToken& cancel,
                           std::vector<LayerResult>& layers) {
    for (const Unit& unit : units.units) {
        if (!unit.weight.valid()) continue;
        cancel.check();
        const Constant& weight = *prepared.graph->constantOf(unit.weight);
        std::shared_ptr<const ConstantQuantizer> quantized;
        try {
            quantized = quantizedWeight(prepared, unit, config, session.quantizers);
        } catch (const Error&) {
            continue;
        }
        const Version version = VersionBuilder().add(weight.version()).add(quantized->dequantized->version()).finish();
        const DifferenceSums* sums = session.weightDifferences.find(version);
        if (sums == nullptr) {
            DifferenceSums fresh;
            fresh.add(weight.floats().data(), quantized->dequantized->floats().data(), weight.floats().size());
            sums = &session.weightDifferences.store(version, fresh);
        }
        layers[prepared.sourceOf[unit.layer.index()].index()].weight = sums->result();
    }
}

}  // namespace quantloupe
