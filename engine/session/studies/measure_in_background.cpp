// SPDX-License-Identifier: Apache-2.0
// Session::measureInBackground.
#include <algorithm>
#include <random>
#include <set>

#include "config/layer_choices.h"
#include "session/session_parts.h"
#include "session/studies/threshold_rules.h"

namespace quantloupe {
namespace {

constexpr std::size_t kMaxLayers = 3;  // maximum number of layers per random edit

}  // namespace

void Session::measureInBackground(const QuantizationConfig& requested, std::size_t edits,
                                  const EvaluationObserver& observer, const CancelToken& cancel) {
    SessionParts& parts = *m_parts;
    EffectModel& effectModel = parts.predictor.model();
    const RunControl control = parts.runner.control(cancel);
    parts.samples.require();
    const QuantizationConfig config = withThresholdsFixed(withThresholdsMeasured(parts, requested, control));
    const EvaluationPtr base = evaluate(config, Depth::Accuracy, {}, cancel);
    const MeasuredState from = parts.predictor.last();
    std::vector<std::string> names;
    for (const LayerResult& layer : base->layers)
        if (layer.state == LayerState::Quantized) names.push_back(layer.name);
    if (names.empty() || !hasTaskMetric(*base->quantized)) return;

    const Version plan = parts.plan(config, control)->version;
    if (parts.results.sweeps.find(plan) == nullptr) {
        SweepOptions options;
        options.settledBelow = 0;  // the shares of all layers are needed, measured on the same samples
        std::size_t done = 0;
        options.updated = [&](const LayerSweep&) {
            if (observer.progress)
                observer.progress({"leave-one-out", std::min(++done, names.size()), names.size()});
        };
        const LayerSweep sweep = leaveOneOut(*this, config, options, cancel);
        std::map<NodeId, LayerEffect> effects;
        for (const LayerEffect& layer : sweep.layers) effects.emplace(layer.node, layer);
        parts.results.sweeps.store(plan, std::move(effects));
        effectModel.learnShares(from.context, sweep);
        parts.predictor.restore(from);
    }
    // A random walk that resembles a user's edits, the same each time for this network.
    std::mt19937 random(static_cast<std::mt19937::result_type>(plan.low));
    std::set<std::string> skipped;
    MeasuredState before = from;
    for (std::size_t tried = 0; tried < 2 * edits && effectModel.knows(from.context) &&
                                effectModel.observations(from.context) < edits;
         ++tried) {
        const std::size_t count = 1 + random() % kMaxLayers;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string& name = names[random() % names.size()];
            if (!skipped.insert(name).second) skipped.erase(name);
        }
        if (skipped.size() > names.size() / 4) skipped.clear();
        const EvaluationPtr result =
            experiment(withLayersSkipped(config, {skipped.begin(), skipped.end()}), Depth::Accuracy, cancel);
        MeasuredState after{from.context, {}, {}, {}};
        after.measure(*result->quantized);
        for (const LayerResult& layer : result->layers)
            if (layer.state == LayerState::Quantized) after.quantized.insert(layer.node);
        effectModel.observe(before, after);
        before = std::move(after);
        if (observer.progress)
            observer.progress({"improving predictions", effectModel.observations(from.context), edits});
    }
}

}  // namespace quantloupe
