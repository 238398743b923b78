// SPDX-License-Identifier: Apache-2.0
#include "session/stages/network_states.h"

#include <algorithm>

#include "config/config_json.h"
#include "config/precision_rules.h"
#include "model/layer_cost.h"
#include "model/quantized_model.h"
#include "session/caches/context_version.h"
#include "session/stages/evaluation_notices.h"
#include "session/studies/threshold_rules.h"

namespace quantloupe {
namespace {

StateCounts countStates(const std::vector<LayerResult>& layers) {
    StateCounts counts;
    for (const LayerResult& layer : layers) switch (layer.state) {
            case LayerState::Quantized:
                ++counts.quantized;
                break;
            case LayerState::Skipped:
                ++counts.skipped;
                break;
            case LayerState::Float:
                ++counts.floating;
                break;
            case LayerState::Folded:
                ++counts.folded;
                break;
            case LayerState::Fused:
                ++counts.fused;
                break;
        }
    return counts;
}

/// Returns the notices of an evaluation whose other members are set.
std::vector<std::string> stateNotices(const EvaluationRequest& request, const ResolvedNetwork& network,
                                      const Evaluation& evaluation) {
    const LoadedModel& model = request.parts.model;
    std::vector<std::string> notices = model.notices;
    const auto append = [&](const std::vector<std::string>& more) {
        notices.insert(notices.end(), more.begin(), more.end());
    };
    if (!evaluation.unevaluated.empty()) notices.push_back(evaluation.unevaluated);
    if (const std::string& notice = request.parts.samples.notice(); !notice.empty())
        notices.push_back(notice);
    if (const std::string& notice = request.parts.samples.mixingNotice(); !notice.empty())
        notices.push_back(notice);
    append(network.prepared->notices);
    append(network.notices);
    if (evaluation.counts.quantized == 0 && !evaluation.layers.empty())
        notices.emplace_back(
            "no layer is quantized: every layer is skipped or cannot be quantized; each layer shows the "
            "reason");
    else if (!network.skips.tailNotice.empty() && quantizationOperators(*model.graph) == 0)
        notices.push_back(network.skips.tailNotice);
    append(idleSettingNotices(*model.graph, request.config, evaluation.layers));
    if (const auto notice = computedConstantsNotice(evaluation.layers)) notices.push_back(*notice);
    return notices;
}

}  // namespace

ResolvedNetwork resolveNetwork(const EvaluationRequest& request) {
    request.cancel.check();
    const Graph& source = *request.parts.model.graph;
    ResolvedNetwork network;
    const QuantizationConfig measured = withThresholdsMeasured(
        request.parts, request.config, request.control("metrics for threshold rules"), &network.notices);
    network.prepared = request.parts.pipeline.prepare(measured, request.control("channels of inputs"));
    network.skips = resolveSkips(source, measured);
    network.units = findUnits(*network.prepared, network.skips);
    network.config = withPrecisionsResolved(source, measured);
    return network;
}

Evaluation evaluationOf(const EvaluationRequest& request, const ResolvedNetwork& network) {
    const SessionSamples& samples = request.parts.samples;
    const Graph& source = *request.parts.model.graph;
    const Prepared& prepared = *network.prepared;
    Evaluation evaluation;
    evaluation.version = VersionBuilder()
                             .add(source.version())
                             .add(std::string_view(configToJson(withoutOffRules(request.config))))
                             .add(samples.evaluationVersion())
                             .add(samples.calibration() ? samples.calibration()->version() : Version{})
                             .finish();
    evaluation.data = samples.evaluationVersion();
    evaluation.config = request.config;
    evaluation.randomInputs = samples.random();
    evaluation.covered = network.skips.covered;
    evaluation.layers = layerStates(prepared, network.units, network.skips);
    setPrecisions(prepared, network.units, network.config, evaluation.layers);
    setCosts(source, request.parts.runner.sourceShapes(), evaluation.layers);
    evaluation.counts = countStates(evaluation.layers);
    evaluation.foldedBatchNorms = prepared.foldedBatchNorms;
    evaluation.replacedClips = prepared.replacedClips;
    evaluation.equalizationSets = static_cast<std::size_t>(std::count_if(
        prepared.sets.begin(), prepared.sets.end(), [](const auto& set) { return set.enabled; }));
    evaluation.migratedInputs = prepared.migrations.size();
    if (!samples.part().frontier.empty()) evaluation.unevaluated = samples.part().notice(source);
    evaluation.notices = stateNotices(request, network, evaluation);
    return evaluation;
}

MeasuredState predictableState(const EvaluationRequest& request, const Evaluation& evaluation) {
    MeasuredState state;
    state.context =
        contextVersion(*request.parts.model.graph, request.config, request.parts.samples.evaluation());
    for (const LayerResult& layer : evaluation.layers)
        if (layer.state == LayerState::Quantized) state.quantized.insert(layer.node);
    return state;
}

void setCosts(const Graph& source, const MeasuredShapes& shapes, std::vector<LayerResult>& layers) {
    if (!shapes.dims) return;
    const LayerCosts costs(source, shapes);
    for (LayerResult& layer : layers) {
        const LayerCost cost = costs.of(source.node(layer.node));
        layer.macs = cost.macs;
        layer.macsReason = cost.macsReason;
    }
}

void assumeCosts(const Graph& source, NetworkRunner& runner, std::vector<LayerResult>& layers) {
    const LayerCosts costs(source);
    const auto unsure = [&](const LayerResult& layer) {
        return !layer.macsReason.empty() || costs.of(source.node(layer.node)).guessed;
    };
    if (std::ranges::any_of(layers, unsure)) setCosts(source, runner.assumedShapes(), layers);
}

}  // namespace quantloupe
