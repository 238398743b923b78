// SPDX-License-Identifier: Apache-2.0
#include "document/layer_states.h"

#include "config/precision_rules.h"
#include "config/skip_rules.h"
#include "session/studies/skip_metrics.h"

namespace quantloupe::ui {

bool predictStates(const Graph& graph, const QuantizationConfig& config, std::vector<LayerResult>& layers) {
    try {
        const QuantizationConfig resolved = withThresholdsFrom(config, layers);
        const SkipDecisions decisions = resolveSkips(graph, resolved);
        const std::vector<Precision> precisions = precisionsOf(graph, resolved);
        for (LayerResult& layer : layers) {
            if (!layer.quantizable) continue;
            layer.precision = precisions[layer.node.index()];
            const bool skipped = decisions.skipped(layer.node);
            layer.state = skipped ? LayerState::Skipped : LayerState::Quantized;
            layer.reason = decisions.reasons[layer.node.index()];
        }
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

bool updateReasons(const Graph& graph, const QuantizationConfig& config, std::vector<LayerResult>& layers) {
    if (config.layers.empty()) return false;
    QuantizationConfig own;
    own.skipTail = false;
    own.layers = config.layers;
    bool changed = false;
    try {
        const SkipDecisions decisions = resolveSkips(graph, own);
        for (LayerResult& layer : layers) {
            const std::string& reason = decisions.reasons[layer.node.index()];
            if (layer.state != LayerState::Skipped || reason.empty() || layer.reason == reason) continue;
            layer.reason = reason;
            changed = true;
        }
    } catch (const std::exception&) {  // the engine reports the error
    }
    return changed;
}

}  // namespace quantloupe::ui
