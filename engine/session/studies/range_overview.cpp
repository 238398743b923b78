// SPDX-License-Identifier: Apache-2.0
#include "session/studies/range_overview.h"

#include <algorithm>
#include <cmath>

#include "config/precision_rules.h"
#include "session/session_parts.h"
#include "session/studies/threshold_rules.h"

namespace quantloupe {

void addPowers(const float* values, std::size_t count, PowerHistogram& histogram) {
    for (std::size_t i = 0; i < count; ++i) {
        if (values[i] == 0 || !std::isfinite(values[i])) continue;
        const int power = std::clamp(std::ilogb(values[i]) - kLeastPower, 0, static_cast<int>(kPowers) - 1);
        ++histogram[static_cast<std::size_t>(power)];
    }
}

std::vector<LayerRanges> rangeOverview(Session& session, const QuantizationConfig& config,
                                       const CancelToken& cancel) {
    SessionParts& parts = partsOf(session);
    parts.samples.requireEvaluable();
    const RunControl control = parts.runner.control(cancel);
    const auto plan = parts.plan(config, control);
    const QuantizationConfig resolved =
        withPrecisionsResolved(*parts.model.graph, withThresholdsMeasured(parts, config, control));
    const Statistics& statistics = parts.pipeline.statistics(*plan->prepared, plan->units, resolved, control);
    const auto representable = [](double scale, int zeroPoint, int quantMin, int quantMax) {
        return RangeStrip{scale, scale * (quantMin - zeroPoint), scale * (quantMax - zeroPoint)};
    };
    std::vector<LayerRanges> overview;
    for (std::size_t u = 0; u < plan->units.units.size(); ++u) {
        cancel.check();
        const Unit& unit = plan->units.units[u];
        const UnitQuantizers& quantizers = plan->quantizers[u];
        LayerRanges ranges;
        ranges.node = plan->prepared->sourceOf[unit.layer.index()];
        if (quantizers.weight) {
            const Constant& weight = *plan->prepared->graph->constantOf(unit.weight);
            addPowers(weight.floats().data(), weight.floats().size(), ranges.weights);
            for (std::size_t c = 0; c < quantizers.weight->scales.size(); ++c) {
                const RangeStrip strip =
                    representable(quantizers.weight->scales[c], quantizers.weight->zeroPoints[c],
                                  quantizers.weight->quantMin, quantizers.weight->quantMax);
                if (!ranges.weight) ranges.weight = strip;
                ranges.weight->step = std::min(ranges.weight->step, strip.step);
                ranges.weight->low = std::min(ranges.weight->low, strip.low);
                ranges.weight->high = std::max(ranges.weight->high, strip.high);
            }
        }
        const TensorQuantizer& activation = unit.quantizesOutput ? quantizers.output : quantizers.inputs[0];
        ranges.output = activation.half ? RangeStrip{0x1p-24, -65504, 65504}
                                        : representable(activation.scale, activation.zeroPoint,
                                                        activation.quantMin, activation.quantMax);
        const TensorId tensor = unit.quantizesOutput ? unit.output : unit.inputs[0];
        if (const auto found = statistics.find(tensor); found != statistics.end())
            ranges.outputMin = found->second.min, ranges.outputMax = found->second.max;
        overview.push_back(ranges);
    }
    return overview;
}

}  // namespace quantloupe
