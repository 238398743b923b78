// SPDX-License-Identifier: Apache-2.0
#include "session/stages/weight_sensitivity.h"

#include <algorithm>
#include <cmath>

#include "analysis/channel_ranges.h"
#include "base/error.h"
#include "base/memory_limit.h"
#include "model/operator_traits.h"
#include "quantize/float16.h"
#include "quantize/layer_scheme.h"

namespace quantloupe {
namespace {

std::optional<double> rangeRatio(const Constant& weight, int axis) {
    double smallest = 0, largest = 0;
    for (const ChannelRange& range : channelRanges(weight, axis)) {
        const double magnitude = std::max(std::abs(range.min), std::abs(range.max));
        if (range.empty() || !(magnitude > 0) || std::isinf(magnitude)) continue;
        smallest = largest == 0 ? magnitude : std::min(smallest, magnitude);
        largest = std::max(largest, magnitude);
    }
    return largest > 0 ? std::optional(largest / smallest) : std::nullopt;
}

const DifferenceSums& weightDifference(EvaluationResults& results, const Constant& weight,
                                       const Constant& rounded) {
    const Version version = VersionBuilder().add(weight.version()).add(rounded.version()).finish();
    if (const DifferenceSums* known = results.weightDifferences.find(version)) return *known;
    DifferenceSums sums;
    sums.add(weight.floats().data(), rounded.floats().data(), weight.floats().size());
    return results.weightDifferences.store(version, sums);
}

/// LSTM, GRU and RNN have several weights.
bool isRecurrent(const Prepared& prepared, const Unit& unit) {
    return traitsOf(prepared.graph->node(unit.layer)).kind == OperatorKind::Recurrent;
}

}  // namespace

void fillWeightDifferences(EvaluationResults& results, QuantizerCache& quantizers, const Prepared& prepared,
                           const UnitList& units, const QuantizationConfig& config, const CancelToken& cancel,
                           std::vector<LayerResult>& layers) {
    for (const Unit& unit : units.units) {
        LayerResult& layer = layers[prepared.sourceOf[unit.layer.index()].index()];
        const LayerSettings* const settings = config.settingsOf(layer.name);
        layer.activationBits = (settings ? settings->activationBits : std::nullopt)
                                   .value_or(config.quantization.activation.bits);
        if (!unit.weight.valid() && !isRecurrent(prepared, unit)) continue;
        cancel.check();
        layer.weightBits = weightSchemeOf(config, settings, prepared.graph->node(unit.layer)).bits;
        if (!unit.weight.valid()) continue;
        const Constant& weight = *prepared.graph->constantOf(unit.weight);
        const Version place = VersionBuilder().add(weight.version()).add(unit.weightAxis).finish();
        const std::optional<double>* ratio = results.weightRangeRatios.find(place);
        if (ratio == nullptr && weight.type() == DataType::Float32 && weight.dims().size() > 1)
            ratio = &results.weightRangeRatios.store(place, rangeRatio(weight, unit.weightAxis));
        if (ratio != nullptr) layer.weightRangeRatio = *ratio;
        ConstantPtr rounded;
        try {
            rounded = unit.float16 ? roundedToHalf(weight)
                                   : quantizedWeight(prepared, unit, config, quantizers)->dequantized;
        } catch (const OutOfMemory&) {
            throw;
        } catch (const Error&) {
            continue;
        }
        layer.weight = weightDifference(results, weight, *rounded).result();
    }
}

std::optional<TensorDifference> plannedWeightDifference(EvaluationResults& results, const Plan& plan,
                                                        std::size_t unit) {
    const Unit& layer = plan.units.units[unit];
    const UnitQuantizers& quantizers = plan.quantizers[unit];
    DifferenceSums sums;
    const auto add = [&](TensorId weight, const ConstantQuantizer& quantizer) {
        sums.merge(
            weightDifference(results, *plan.prepared->graph->constantOf(weight), *quantizer.dequantized));
    };
    if (layer.weight.valid() && quantizers.weight) add(layer.weight, *quantizers.weight);
    if (isRecurrent(*plan.prepared, layer))
        for (std::size_t i = 0; i < layer.constants.size(); ++i)
            if (quantizers.constants[i]) add(layer.constants[i].tensor, *quantizers.constants[i]);
    return sums.count > 0 ? std::optional(sums.result()) : std::nullopt;
}

void fillPlannedWeightDifferences(EvaluationResults& results, const Plan& plan,
                                  std::vector<LayerResult>& layers) {
    for (std::size_t u = 0; u < plan.units.units.size(); ++u)
        if (const auto difference = plannedWeightDifference(results, plan, u))
            layers[plan.prepared->sourceOf[plan.units.units[u].layer.index()].index()].weight = difference;
}

}  // namespace quantloupe
