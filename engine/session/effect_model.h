// SPDX-License-Identifier: Apache-2.0
#pragma once
// What skipping and unskipping layers is expected to do to the task's metric, before it is measured.
//
// The noise that quantization adds to the outputs (noise power over signal power, 1 / SQNR) is taken as a sum over the
// quantized layers; a leave-one-out sweep tells each layer's share, and what the metric regains with it. The features of an edit
// are the share it removes, the gains it adds up, and the logarithm of the noise before over the noise after; EffectPredictor
// learns from measured edits what they do, and when to be believed: one for the task's metric and one for the outputs' SQNR, which
// is predictable more often (rank correlation 0.93 against 0.80 with 4-bit weights on MobileNetV2-CIFAR), since single
// images do not decide it. Where layers' noises do not add up (8 bits, near
// 30 dB: every edit stirs all rounding), the prediction is rightly never trusted.

#include <array>
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
    std::optional<double> metric;  ///< the task's
    std::optional<double> sqnrDb;  ///< of the outputs, finite

    void measure(const Accuracy& accuracy);
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
    struct Share {
        double noise = 0;  ///< of the whole network's, that this layer adds
        double gain = 0;   ///< of the metric, with this layer in float
    };
    struct Context {
        std::map<NodeId, Share> shares;
        EffectPredictor metric{3}, sqnr{3};
    };
    std::optional<std::array<double, 3>> features(const MeasuredState& before, const MeasuredState& after) const;

    std::unordered_map<Version, Context> m_contexts;
};

}  // namespace quantloupe
