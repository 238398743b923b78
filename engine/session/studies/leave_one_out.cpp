// SPDX-License-Identifier: Apache-2.0
#include "session/studies/leave_one_out.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "config/layer_choices.h"
#include "model/quantized_model.h"
#include "session/stopwatch.h"
#include "session/studies/evaluation_gain.h"
#include "session/studies/skip_groups.h"

namespace quantloupe {
namespace {

class Sweep {
  public:
    Sweep(Session& session, const QuantizationConfig& config, const SweepOptions& options,
          const CancelToken& cancel)
        : m_session(session),
          m_config(withRulesFixed(session, config, cancel)),
          m_options(options),
          m_cancel(cancel) {}

    LayerSweep run() {
        const Stopwatch watch;
        requireFloatModel(m_session.graph(), "leave-one-out");
        const EvaluationPtr configured = m_session.evaluate(m_config, Depth::Accuracy, {}, m_cancel);
        if (!configured->quantized) failInput("there is no data to evaluate on");
        for (const LayerResult& layer : configured->layers)
            if (layer.state == LayerState::Quantized)
                m_sweep.layers.push_back({layer.node, layer.name, 0, 0, {}, {}, 0, {}});
        findGroups();
        m_full = m_session.evaluate(m_config, Depth::Accuracy, {}, m_cancel);
        m_rough = m_session.evaluate(m_config, Depth::Rough, {}, m_cancel);
        if (!hasTaskMetric(*m_full->quantized))
            failInput("the network's outputs cannot be compared with those of the float network");
        const Accuracy& full = *m_full->quantized;
        m_sweep.metric = gainMetric(*m_full);
        m_sweep.baseline = valueOf(full, m_sweep.metric);
        m_sweep.baselineSqnrDb = full.sqnrDb;

        const bool twoPasses = m_options.settledBelow > 0 &&
                               m_rough->quantized->samples < m_full->quantized->samples &&
                               m_sweep.layers.size() > m_options.settledBelow;
        if (twoPasses)
            for (LayerEffect& layer : m_sweep.layers) measure(layer, Depth::Rough);
        shareResults();
        const std::vector<bool> settled =
            twoPasses ? settledLayers() : std::vector<bool>(m_sweep.layers.size(), false);
        for (std::size_t l = 0; l < settled.size(); ++l)
            if (!settled[l]) measure(m_sweep.layers[l], Depth::Accuracy);
        shareResults();
        m_sweep.complete = true;
        m_sweep.seconds = watch.seconds();
        if (m_options.updated) m_options.updated(m_sweep);
        return m_sweep;
    }

  private:
    void findGroups() {
        for (SkipGroup& group : skipGroups(m_session, m_config, m_cancel)) {
            for (const NodeId node : group.nodes) {
                if (node == group.owner) continue;
                const auto moved = std::find_if(m_sweep.layers.begin(), m_sweep.layers.end(),
                                                [&](const LayerEffect& layer) { return layer.node == node; });
                if (moved != m_sweep.layers.end()) moved->movedWith = group.owner;
            }
            m_groups.emplace(group.owner, std::move(group.layers));
        }
    }

    /// Copies the results of a layer to the layers that were measured together with it.
    void shareResults() {
        for (LayerEffect& layer : m_sweep.layers) {
            if (!layer.movedWith.valid()) continue;
            const LayerEffect own = layer;
            layer = *std::find_if(m_sweep.layers.begin(), m_sweep.layers.end(),
                                  [&](const LayerEffect& other) { return other.node == own.movedWith; });
            layer.node = own.node;
            layer.name = own.name;
            layer.movedWith = own.movedWith;
        }
    }

    void measure(LayerEffect& layer, Depth depth) {
        if (layer.movedWith.valid()) return;
        if (depth == Depth::Accuracy && m_options.known) {
            if (std::optional<LayerEffect> known = m_options.known(layer.name)) {
                known->node = layer.node;
                known->name = layer.name;
                layer = std::move(*known);
                if (m_options.updated) m_options.updated(m_sweep);
                return;
            }
        }
        const QuantizationConfig changed = withLayersSkipped(m_config, m_groups.at(layer.node));
        const EvaluationPtr result = m_session.experiment(changed, depth, m_cancel);
        const EvaluationPtr& base = depth == Depth::Rough ? m_rough : m_full;
        const Accuracy& after = *result->quantized;
        layer.sqnrDb = after.sqnrDb;
        layer.samples = after.samples;
        layer.value = valueOf(after, m_sweep.metric);
        const EvaluationGain gain = gainBetween(*base, *result, m_sweep.metric);
        layer.change = gain.value;
        layer.paired = gain.paired;
        if (depth == Depth::Accuracy && m_options.measured) m_options.measured(layer);
        if (m_options.updated) m_options.updated(m_sweep);
    }

    std::vector<bool> settledLayers() const {
        const auto& layers = m_sweep.layers;
        std::vector<bool> settled(layers.size(), false);
        if (!std::all_of(layers.begin(), layers.end(),
                         [](const auto& layer) { return layer.paired.has_value(); }))
            return settled;
        std::vector<double> floors;
        for (const LayerEffect& layer : layers) floors.push_back(layer.paired->low);
        std::nth_element(floors.begin(),
                         floors.begin() + static_cast<std::ptrdiff_t>(m_options.settledBelow) - 1,
                         floors.end(), std::greater<>());
        const double bar = floors[m_options.settledBelow - 1];
        for (std::size_t l = 0; l < layers.size(); ++l) settled[l] = layers[l].paired->high < bar;
        return settled;
    }

    Session& m_session;
    const QuantizationConfig m_config;
    const SweepOptions& m_options;
    const CancelToken& m_cancel;
    std::map<NodeId, std::vector<std::string>> m_groups;  ///< by the layer whose scale the others pass on
    EvaluationPtr m_full, m_rough;
    LayerSweep m_sweep;
};

}  // namespace

LayerSweep leaveOneOut(Session& session, const QuantizationConfig& config, const SweepOptions& options,
                       const CancelToken& cancel) {
    return Sweep(session, config, options, cancel).run();
}

bool layersAreIndependent(const QuantizationConfig& config) {
    return config.refine.biasCorrection == BiasCorrection::Off && config.refine.rounding == Rounding::Nearest;
}

bool leaveOneOutComplete(std::span<const LayerResult> layers) {
    bool measured = false;
    for (const LayerResult& layer : layers) {
        if (layer.state == LayerState::Quantized && !layer.leaveOneOut) return false;
        measured = measured || layer.leaveOneOut;
    }
    return measured;
}

}  // namespace quantloupe
