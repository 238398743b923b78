// SPDX-License-Identifier: Apache-2.0
#include "interchange/aimet/tensor_encodings.h"

#include <map>

#include "base/error.h"
#include "interchange/export_precisions.h"
#include "quantize/layer_scheme.h"
#include "quantize/plan.h"

namespace quantloupe {
TensorEncodings tensorEncodings(const ExportSource& source) {
    if (!source.plan) fail(ErrorKind::Internal, "an export with scales was requested without a plan");
    if (source.config.quantization.placement == Placement::WeightedInputs)
        failInput(
            "an encoding applies to a tensor and all its consumers, but placement weighted_inputs quantizes "
            "it for single consumers: set quantization.placement to inputs_and_outputs");
    const Plan& plan = *source.plan;
    const Graph& graph = *plan.prepared->graph;
    const auto settings = settingsByOutput(source.config, *plan.prepared, plan.units);
    std::map<TensorId, TensorEncoding> activations, parameters;
    for (const auto& [tensor, quantizer] : sharedQuantizers(plan)) {
        TensorEncoding e;
        e.tensor = graph.tensor(tensor).name;
        e.bits = widthOf(quantizer);
        e.isSigned = quantizer.quantMin < 0;
        e.scales.assign(1, quantizer.scale);
        e.offsets = {quantizer.quantMin - quantizer.zeroPoint};
        if (e.isSigned && quantizer.quantMin != -(1 << (e.bits - 1)))
            e.offsets = {-(1 << (e.bits - 1)) - quantizer.zeroPoint};
        const auto maker = settings.find(tensor);
        const LayerSettings* own = maker == settings.end() ? nullptr : maker->second;
        e.symmetric =
            tensorCalibrationOf(source.config, own).scheme.symmetric && e.offsets[0] == -(1 << (e.bits - 1));
        activations.emplace(tensor, std::move(e));
    }
    const auto addConstant = [&](TensorId tensor, const ConstantQuantizer& q) {
        TensorEncoding e;
        e.tensor = graph.tensor(tensor).name;
        e.bits = q.bits;
        e.isSigned = q.quantMin < 0;
        e.axis = q.axis;
        e.scales = q.scales;
        e.symmetric = e.isSigned;
        for (const std::int32_t zero : q.zeroPoints) {
            e.offsets.push_back((e.isSigned ? -(1 << (e.bits - 1)) : 0) - zero);
            e.symmetric = e.symmetric && zero == 0;
        }
        const auto [known, fresh] = parameters.emplace(tensor, e);
        if (!fresh && (known->second.scales != e.scales || known->second.bits != e.bits))
            failInput(
                "the weight '{}' is shared by layers with different settings, but a tensor has only one "
                "encoding: give the layers the same settings",
                e.tensor);
    };
    for (std::size_t u = 0; u < plan.units.units.size(); ++u) {
        const Unit& unit = plan.units.units[u];
        if (!unit.quantized) continue;
        const UnitQuantizers& quantizers = plan.quantizers[u];
        if (unit.weight.valid() && quantizers.weight) addConstant(unit.weight, *quantizers.weight);
        for (std::size_t i = 0; i < unit.constants.size(); ++i)
            if (quantizers.constants[i] && unit.constants[i].role != ConstantRole::NormBias)
                addConstant(unit.constants[i].tensor, *quantizers.constants[i]);
    }
    TensorEncodings result;
    for (auto& [id, e] : activations) result.activations.push_back(std::move(e));
    for (auto& [id, e] : parameters) result.parameters.push_back(std::move(e));
    return result;
}

}  // namespace quantloupe
