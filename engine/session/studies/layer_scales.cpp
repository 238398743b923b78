// SPDX-License-Identifier: Apache-2.0
#include "session/studies/layer_scales.h"

#include <algorithm>

#include "quantize/plan.h"

namespace quantloupe {

std::vector<LayerScale> layerScales(Session& session, const QuantizationConfig& config,
                                    const CancelToken& cancel) {
    const std::shared_ptr<const Plan> plan = session.plan(config, cancel);
    std::vector<LayerScale> layers;
    for (std::size_t u = 0; u < plan->units.units.size(); ++u) {
        const Unit& unit = plan->units.units[u];
        if (!unit.quantized) continue;
        const UnitQuantizers& quantizers = plan->quantizers[u];
        LayerScale layer;
        layer.node = plan->prepared->sourceOf[unit.layer.index()];
        if (quantizers.weight && !quantizers.weight->scales.empty()) {
            const auto [low, high] = std::ranges::minmax_element(quantizers.weight->scales);
            layer.lowestWeight = *low, layer.highestWeight = *high;
            layer.weightScales = quantizers.weight->scales.size();
        }
        if (unit.quantizesOutput) {
            layer.output = quantizers.output.scale;
            layer.outputZeroPoint = quantizers.output.zeroPoint;
        }
        layers.push_back(layer);
    }
    return layers;
}

}  // namespace quantloupe
