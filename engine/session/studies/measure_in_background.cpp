// SPDX-License-Identifier: Apache-2.0
// Session::measureInBackground.
#include <algorithm>
#include <random>
#include <set>

#include "config/layer_choices.h"
#include "session/session_parts.h"
#include "session/stopwatch.h"
#include "session/studies/threshold_rules.h"

namespace quantloupe {
namespace {

constexpr std::size_t kMaxLayers = 3;  // maximum number of layers per random edit
constexpr double kSnapshotSeconds = 1;

/// Measures leave-one-out on all samples. The layers measured so far are kept if it is cancelled, and shown
/// from time to time.
class BackgroundSweep {
  public:
    BackgroundSweep(Session& session, SessionParts& parts, const Version& plan,
                    const QuantizationConfig& config, const EvaluationObserver& observer)
        : m_session(session), m_parts(parts), m_plan(plan), m_config(config), m_observer(observer) {
        const MeasuredSweep* known = parts.results.sweeps.find(plan);
        if (known && layersAreIndependent(config)) m_measured = *known;
    }
    ~BackgroundSweep() { m_parts.results.sweeps.store(m_plan, std::move(m_measured)); }
    BackgroundSweep(const BackgroundSweep&) = delete;
    BackgroundSweep& operator=(const BackgroundSweep&) = delete;

    LayerSweep run(std::size_t layers, const CancelToken& cancel) {
        if (m_observer.updated) m_shown = m_session.evaluate(m_config, Depth::Metrics, {}, cancel);
        SweepOptions options;
        options.settledBelow = 0;  // the shares of all layers are needed, measured on the same samples
        options.known = [this](const std::string& layer) { return known(layer); };
        options.measured = [this](const LayerEffect& layer) { m_measured.layers[layer.node] = layer; };
        std::size_t done = 0;
        options.updated = [this, &done, layers](const LayerSweep& sweep) {
            if (m_observer.progress) m_observer.progress({"leave-one-out", std::min(++done, layers), layers});
            if (!sweep.complete) showSnapshot();
        };
        LayerSweep sweep = leaveOneOut(m_session, m_config, options, cancel);
        for (const LayerEffect& layer : sweep.layers) m_measured.layers[layer.node] = layer;
        m_measured.complete = true;
        return sweep;
    }

  private:
    std::optional<LayerEffect> known(const std::string& layer) const {
        const auto found = std::ranges::find(m_measured.layers, layer,
                                             [](const auto& measured) { return measured.second.name; });
        if (found == m_measured.layers.end()) return std::nullopt;
        return found->second;
    }

    void showSnapshot() {
        if (!m_shown || m_sinceSnapshot.seconds() < kSnapshotSeconds) return;
        Evaluation snapshot = *m_shown;
        m_measured.fill(snapshot.layers);
        m_observer.updated(std::make_shared<const Evaluation>(std::move(snapshot)));
        m_sinceSnapshot = Stopwatch();
    }

    Session& m_session;
    SessionParts& m_parts;
    const Version m_plan;
    const QuantizationConfig& m_config;
    const EvaluationObserver& m_observer;
    EvaluationPtr m_shown;  ///< null: snapshots are not wanted
    MeasuredSweep m_measured;
    Stopwatch m_sinceSnapshot;
};

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
    if (const MeasuredSweep* known = parts.results.sweeps.find(plan); !known || !known->complete) {
        BackgroundSweep sweep(*this, parts, plan, config, observer);
        const LayerSweep measured = sweep.run(names.size(), cancel);
        // Effects on a user's metric are not predicted: they have another unit.
        if (!base->quantized->userMetric) effectModel.learnShares(from.context, measured);
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
