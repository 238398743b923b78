// SPDX-License-Identifier: Apache-2.0
#include "document/layer_reasons.h"

#include "config/skip_rules.h"
#include "session/studies/skip_metrics.h"

namespace quantloupe::ui {

void updateReasons(const Graph& graph, const QuantizationConfig& config, std::vector<LayerResult>& layers) {
    try {
        const SkipDecisions decisions = resolveSkips(graph, withThresholdsFrom(config, layers));
        for (LayerResult& layer : layers)
            if (layer.quantizable && layer.state == LayerState::Skipped)
                layer.reason = decisions.reasons[layer.node.index()];
    } catch (const std::exception&) {  // the engine reports the error
    }
}

}  // namespace quantloupe::ui
