// SPDX-License-Identifier: Apache-2.0
#include "session/stages/weight_sensitivity.h"

#include <algorithm>
#include <cmath>

#include "analysis/channel_ranges.h"
#include "base/error.h"
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

TensorDifference weightDifference(EvaluationResults& results, const Constant& weight,
                                  const Constant& rounded) {
    const Version version = VersionBuilder().add(weight.version()).add(rounded.version()).finish();
    const DifferenceSums* sums = results.weightDifferences.find(version);
    if (sums == nullptr) {
        DifferenceSums fresh;
        fresh.add(weight.floats().data(), rounded.floats().data(), weight.floats().size());
        sums = &results.weightDifferences.store(version, fresh);
    }
    return sums->result();
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
        const bool isRecurrent =
            !unit.quantizesOutput &&
            std::ranges::any_of(unit.constants, [](const auto& c) { return c.role == ConstantRole::Weight; });
        if (!unit.weight.valid() && !isRecurrent) continue;
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
        } catch (const Error&) {
            continue;
        }
        layer.weight = weightDifference(results, weight, *rounded);
    }
}

std::optional<TensorDifference> plannedWeightDifference(EvaluationResults& results, const Plan& plan,
                                                        std::size_t unit) {
    const TensorId weight = plan.units.units[unit].weight;
    const auto& quantizer = plan.quantizers[unit].weight;
    if (!weight.valid() || !quantizer) return std::nullopt;
    return weightDifference(results, *plan.prepared->graph->constantOf(weight), *quantizer->dequantized);
}

void fillPlannedWeightDifferences(EvaluationResults& results, const Plan& plan,
                                  std::vector<LayerResult>& layers) {
    for (std::size_t u = 0; u < plan.units.units.size(); ++u)
        if (const auto difference = plannedWeightDifference(results, plan, u))
            layers[plan.prepared->sourceOf[plan.units.units[u].layer.index()].index()].weight = difference;
}

}  // namespace quantloupe
