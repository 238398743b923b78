// SPDX-License-Identifier: Apache-2.0
#include "session/studies/effect_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace quantloupe {
namespace {

/// Returns noise power / signal power; 0 if nothing differs.
double noiseOf(double sqnrDb) { return std::isfinite(sqnrDb) ? std::pow(10.0, -sqnrDb / 10) : 0.0; }

}  // namespace

void MeasuredState::measure(const Accuracy& accuracy) {
    metric = taskMetric(accuracy).value;
    if (accuracy.sqnrDb && std::isfinite(*accuracy.sqnrDb)) sqnrDb = accuracy.sqnrDb;
}

void EffectModel::learnShares(const Version& context, const LayerSweep& sweep) {
    if (!sweep.baselineSqnrDb) return;
    const double whole = noiseOf(*sweep.baselineSqnrDb);
    if (!(whole > 0)) return;
    constexpr std::size_t kMaxContexts = 32;
    if (!m_contexts.contains(context) && m_contexts.size() >= kMaxContexts)
        m_contexts.erase(m_contexts.begin());
    Context& known = m_contexts[context];
    for (const LayerEffect& layer : sweep.layers) {
        if (!layer.sqnrDb) continue;
        // A layer that was measured with another one is included in that one's share.
        known.shares[layer.node] =
            layer.movedWith.valid() ? Share{} : Share{(whole - noiseOf(*layer.sqnrDb)) / whole, layer.change};
    }
}

std::optional<std::array<double, 3>> EffectModel::features(const MeasuredState& before,
                                                           const MeasuredState& after) const {
    constexpr double kLeastNoise = 0.02;  // shares are estimates, so their sum can exceed 1
    if (before.context != after.context || !before.metric || before.quantized == after.quantized)
        return std::nullopt;
    const auto context = m_contexts.find(after.context);
    if (context == m_contexts.end()) return std::nullopt;
    const std::map<NodeId, Share>& shares = context->second.shares;
    for (const MeasuredState* state : {&before, &after})
        for (const NodeId node : state->quantized)
            if (!shares.contains(node)) return std::nullopt;
    double noiseBefore = 1, noiseAfter = 1, removed = 0, gained = 0;
    for (const auto& [node, share] : shares) {
        const bool was = before.quantized.contains(node), is = after.quantized.contains(node);
        if (!was) noiseBefore -= share.noise;
        if (!is) noiseAfter -= share.noise;
        if (was == is) continue;
        removed += was ? share.noise : -share.noise;
        gained += was ? share.gain : -share.gain;
    }
    return std::array{removed, gained,
                      std::log(std::max(noiseBefore, kLeastNoise) / std::max(noiseAfter, kLeastNoise))};
}

std::optional<ExpectedEffect> EffectModel::expect(const MeasuredState& before,
                                                  const MeasuredState& after) const {
    const auto known = features(before, after);
    std::vector<NodeId> changed;
    std::ranges::set_symmetric_difference(before.quantized, after.quantized, std::back_inserter(changed));
    if (!known || changed.size() > kMostChanged) return std::nullopt;
    const Context& context = m_contexts.at(after.context);
    for (const bool ofSqnr : {false, true}) {
        const PredictedEffect effect = (ofSqnr ? context.sqnr : context.metric).predict(*known);
        if (effect.trusted) return ExpectedEffect{ofSqnr, effect.median, effect.low, effect.high};
    }
    return std::nullopt;
}

void EffectModel::observe(const MeasuredState& before, const MeasuredState& after) {
    const auto known = features(before, after);
    if (!known) return;
    Context& context = m_contexts.at(after.context);
    if (after.metric && before.metric) context.metric.observe(*known, *after.metric - *before.metric);
    if (after.sqnrDb && before.sqnrDb) context.sqnr.observe(*known, *after.sqnrDb - *before.sqnrDb);
}

std::size_t EffectModel::observations(const Version& context) const {
    const auto found = m_contexts.find(context);
    return found == m_contexts.end() ? 0 : found->second.metric.observations();
}

}  // namespace quantloupe
