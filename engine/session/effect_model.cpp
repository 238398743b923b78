// SPDX-License-Identifier: Apache-2.0
#include "session/effect_model.h"

#include <array>
#include <cmath>

namespace quantloupe {
namespace {

/// Noise power over signal power; 0 where nothing differs.
double noiseOf(double sqnrDb) { return std::isfinite(sqnrDb) ? std::pow(10.0, -sqnrDb / 10) : 0.0; }

}  // namespace

void EffectModel::learnShares(const Version& context, const LayerSweep& sweep) {
    if (!sweep.baselineSqnrDb) return;
    const double whole = noiseOf(*sweep.baselineSqnrDb);
    if (!(whole > 0)) return;
    Context& known = m_contexts[context];
    for (const LayerEffect& layer : sweep.layers)
        if (layer.sqnrDb) known.shares[layer.node] = (whole - noiseOf(*layer.sqnrDb)) / whole;
}

std::optional<double> EffectModel::feature(const MeasuredState& before, const MeasuredState& after) const {
    if (before.context != after.context || !before.metric) return std::nullopt;
    const auto context = m_contexts.find(after.context);
    if (context == m_contexts.end()) return std::nullopt;
    double removed = 0;
    bool known = true;
    const auto add = [&](const std::set<NodeId>& from, const std::set<NodeId>& to, double sign) {
        for (const NodeId node : from) {
            if (to.contains(node)) continue;
            const auto share = context->second.shares.find(node);
            if (share == context->second.shares.end()) known = false;
            else removed += sign * share->second;
        }
    };
    add(before.quantized, after.quantized, 1);
    add(after.quantized, before.quantized, -1);
    return known && before.quantized != after.quantized ? std::optional(removed) : std::nullopt;
}

std::optional<ExpectedEffect> EffectModel::expect(const MeasuredState& before, const MeasuredState& after) const {
    const std::optional<double> removed = feature(before, after);
    if (!removed) return std::nullopt;
    const PredictedEffect effect = m_contexts.at(after.context).predictor.predict(std::array{*removed});
    if (!effect.trusted) return std::nullopt;
    return ExpectedEffect{effect.median, effect.low, effect.high};
}

void EffectModel::observe(const MeasuredState& before, const MeasuredState& after) {
    const std::optional<double> removed = feature(before, after);
    if (removed && after.metric)
        m_contexts.at(after.context).predictor.observe(std::array{*removed}, *after.metric - *before.metric);
}

std::size_t EffectModel::observations(const Version& context) const {
    const auto found = m_contexts.find(context);
    return found == m_contexts.end() ? 0 : found->second.predictor.observations();
}

}  // namespace quantloupe
