// SPDX-License-Identifier: Apache-2.0
#pragma once
// What skipping and unskipping layers is expected to do to the task's metric, before it is measured.
//
// The noise that quantization adds to the outputs (noise power over signal power, 1 / SQNR) is taken as a sum over the
// quantized layers; a leave-one-out sweep tells each layer's share. The feature of an edit is the share it removes, in units of the
// whole; EffectPredictor learns from measured edits what that does to the metric, and when to be believed. On
// MobileNetV2-CIFAR with 4-bit weights the feature's rank correlation with the measured change of top-1 is 0.82, of the SQNR
// 0.93. Near 30 dB (8 bits) layers' noises do not add up any more, and the prediction is rightly never trusted.

#include <map>
#include <set>
#include <unordered_map>

#include "analysis/effect_predictor.h"
#include "session/leave_one_out.h"

namespace quantloupe {

/// The quantized layers of a configuration and what was measured of it.
struct MeasuredState {
    Version context;  ///< everything but which layers are quantized
    std::set<NodeId> quantized;
    std::optional<double> metric;
};

class EffectModel {
  public:
    /// The shares of the layers, from a sweep of a configuration in this context.
    void learnShares(const Version& context, const LayerSweep& sweep);
    bool knows(const Version& context) const { return m_contexts.contains(context); }

    /// From one measured state to another one, empty unless it may be believed.
    std::optional<ExpectedEffect> expect(const MeasuredState& before, const MeasuredState& after) const;
    void observe(const MeasuredState& before, const MeasuredState& after);
    /// How often it was taught in this context; 0 for an unknown one.
    std::size_t observations(const Version& context) const;
    void clear() { m_contexts.clear(); }

  private:
    struct Context {
        std::map<NodeId, double> shares;
        EffectPredictor predictor{1};
    };
    std::optional<double> feature(const MeasuredState& before, const MeasuredState& after) const;

    std::unordered_map<Version, Context> m_contexts;
};

}  // namespace quantloupe
