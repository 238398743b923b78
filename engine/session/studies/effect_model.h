// SPDX-License-Identifier: Apache-2.0
#pragma once
// Predicts the effect of skipping and unskipping layers on the task's metric before it is measured.
//
// The noise that quantization adds to the outputs (noise power / signal power, 1 / SQNR) is modeled as a sum
// over the quantized layers. A leave-one-out sweep gives each layer's share of the noise and the gain of the
// metric with the layer in float. The features of an edit are the share it removes, the sum of the gains, and
// log(noise before / noise after). From measured edits, EffectPredictor learns their effect and when it can
// be trusted. There is one predictor for the task's metric and one for the outputs' SQNR. SQNR is predictable
// more often (rank correlation 0.93 against 0.80 with 4-bit weights on MobileNetV2-CIFAR) because it does not
// depend on a few single images. If the noise of the layers does not add up (8 bits, near 30 dB: every edit
// changes all rounding errors), the prediction is rightly never trusted.

#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/effect_predictor.h"
#include "session/studies/leave_one_out.h"

namespace quantloupe {

/// The quantized layers of a configuration and its measured results.
struct MeasuredState {
    Version context;  ///< of everything except which layers are quantized
    std::set<NodeId> quantized;
    std::optional<double> metric;  ///< the task's
    std::optional<double> sqnrDb;  ///< of the outputs, finite

    void measure(const Accuracy& accuracy);
};

class EffectModel {
  public:
    /// Learns the shares of the layers from a leave-one-out sweep of a configuration in this context.
    void learnShares(const Version& context, const LayerSweep& sweep);
    bool knows(const Version& context) const { return m_contexts.contains(context); }

    /// The effects of layers add up only while few of them change. The published accuracy of predictions is
    /// that of one to three layers.
    static constexpr std::size_t kMostChanged = 5;

    /// Predicts the effect of going from a measured state to another one; empty unless the prediction is
    /// trusted, or if more than kMostChanged layers change.
    std::optional<ExpectedEffect> expect(const MeasuredState& before, const MeasuredState& after) const;
    void observe(const MeasuredState& before, const MeasuredState& after);
    /// Returns the number of observations in this context; 0 if it is unknown.
    std::size_t observations(const Version& context) const;
    void clear() { m_contexts.clear(); }

  private:
    struct Share {
        double noise = 0;  ///< the layer's share of the network's noise
        double gain = 0;   ///< gain of the metric with this layer in float
    };
    struct Context {
        std::map<NodeId, Share> shares;
        EffectPredictor metric{3}, sqnr{3};
    };
    std::optional<std::array<double, 3>> features(const MeasuredState& before,
                                                  const MeasuredState& after) const;

    std::unordered_map<Version, Context> m_contexts;
};

/// Predicts the effects of edits: of changes from the last evaluated configuration to another one.
class EditPredictor {
  public:
    /// The last evaluated configuration; not that of an experiment.
    const MeasuredState& last() const { return m_last; }
    /// Empty unless the prediction is trusted.
    std::optional<ExpectedEffect> expect(const MeasuredState& next) const {
        return m_model.expect(m_last, next);
    }
    /// Learns from an edit. Its result is the last configuration from now on.
    void learn(const MeasuredState& next) {
        m_model.observe(m_last, next);
        m_last = next;
    }
    /// Makes a former value of last() the last configuration again, for studies that evaluate others.
    void restore(const MeasuredState& last) { m_last = last; }
    EffectModel& model() { return m_model; }
    void clear() {
        m_model.clear();
        m_last = {};
    }

  private:
    EffectModel m_model;
    MeasuredState m_last;
};

/// For studies that evaluate other configurations: afterwards, predictions start from the edited one again.
class KeptState {
  public:
    explicit KeptState(EditPredictor& predictor) : m_predictor(predictor), m_last(predictor.last()) {}
    ~KeptState() { m_predictor.restore(m_last); }
    KeptState(const KeptState&) = delete;
    KeptState& operator=(const KeptState&) = delete;

  private:
    EditPredictor& m_predictor;
    const MeasuredState m_last;
};

}  // namespace quantloupe
