// SPDX-License-Identifier: Apache-2.0
#include "document/layer_reasons.h"

#include "config/skip_rules.h"

namespace quantloupe::ui {

void updateReasons(const Graph& graph, const QuantizationConfig& config, std::vector<LayerResult>& layers) {
    QuantizationConfig own;
    own.skipTail = false;
    own.layers = config.layers;
    try {
        const SkipDecisions decisions = resolveSkips(graph, own);
        for (LayerResult& layer : layers)
            if (const std::string& reason = decisions.reasons[layer.node.index()];
                layer.state == LayerState::Skipped && !reason.empty())
                layer.reason = reason;
    } catch (const std::exception&) {  // the engine reports the error
    }
}

}  // namespace quantloupe::ui
