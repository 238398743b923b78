// SPDX-License-Identifier: Apache-2.0
// Session::evaluate: runs the stages of one configuration, using cached results if their versions match, and
// publishes a snapshot after each.
#include <algorithm>
#include <functional>

#include "base/error.h"
#include "config/config_fields.h"
#include "config/config_json.h"
#include "config/skip_rules.h"
#include "model/layer_cost.h"
#include "session/caches/tensor_versions.h"
#include "session/session_impl.h"
#include "session/stages/weight_sensitivity.h"
#include "session/stopwatch.h"
#include "session/studies/forecast.h"
#include "session/studies/threshold_rules.h"

namespace quantloupe {
namespace {

/// Snapshots on the way to the full accuracy come no faster than this.
constexpr double kPublishSeconds = 0.1;
/// Float rounding alone gives a higher SQNR in dB against the source's outputs; below it, transforms have
/// changed the function.
constexpr double kRoundingSqnr = 60;

class EvaluationRun {
  public:
    EvaluationRun(Session::Impl& session, const QuantizationConfig& config,
                  const EvaluationObserver& observer, const CancelToken& cancel)
        : m_session(session), m_observer(observer), m_cancel(cancel) {
        m_result.config = config;
    }

    /// Keeps no activations and learns nothing.
    void asExperiment() { m_keep = m_learn = false; }
    /// Keeps activations, of outputs that are known too, and learns nothing.
    void asWaypoint() {
        m_learn = false;
        m_rerun = true;
    }

    std::optional<ExpectedEffect> forecast() {
        states();
        return m_session.effectModel.expect(m_session.measured, m_state);
    }

    EvaluationPtr run(Depth depth) {
        m_session.limitCaches();
        states();
        publish();  // the graph is shown at once, even if the network cannot run
        weightMetrics();
        if (!m_session.evaluationData) assumeCosts();
        if (depth == Depth::States || !m_session.evaluationData) return finish();
        const bool known = m_session.batch != 0;
        m_session.requireEvaluable();
        if (!known && !m_session.part.whole()) {  // now it shows which layers are not evaluated
            states();
            weightMetrics();
        }
        accuracies(depth);
        if (depth <= Depth::Accuracy) return finish();
        publish();
        preparedAccuracy();
        publish();
        metrics();
        return finish();
    }

  private:
    void publish() const {
        if (m_observer.updated) m_observer.updated(std::make_shared<const Evaluation>(m_result));
    }

    EvaluationPtr finish() {
        m_result.complete = true;
        m_result.seconds.total = m_total.seconds();
        auto result = std::make_shared<const Evaluation>(m_result);
        if (m_observer.updated) m_observer.updated(result);
        return result;
    }

    RunControl control(const char* stage) const {
        RunControl control{m_session.workers, m_cancel, {}};
        if (m_observer.progress)
            control.progress = [this, stage](std::size_t done, std::size_t total) {
                m_observer.progress({stage, done, total});
            };
        return control;
    }

    void states() {
        const Stopwatch watch;
        m_cancel.check();
        std::vector<std::string> idleRules;
        const QuantizationConfig measured = withThresholdsMeasured(
            m_session, m_result.config, control("metrics for threshold rules"), &idleRules);
        m_result.counts = {};
        m_prepared = m_session.prepareMeasured(measured, control("channels of inputs"));
        const SkipDecisions skips = resolveSkips(*m_session.model.graph, measured);
        m_result.covered = skips.covered;
        m_units = findUnits(*m_prepared, skips);
        m_result.layers = layerStates(*m_prepared, m_units, skips);
        measureCosts();
        for (const LayerResult& layer : m_result.layers) switch (layer.state) {
                case LayerState::Quantized:
                    ++m_result.counts.quantized;
                    break;
                case LayerState::Skipped:
                    ++m_result.counts.skipped;
                    break;
                case LayerState::Float:
                    ++m_result.counts.floating;
                    break;
                case LayerState::Folded:
                    ++m_result.counts.folded;
                    break;
                case LayerState::Fused:
                    ++m_result.counts.fused;
                    break;
            }
        m_result.foldedBatchNorms = m_prepared->foldedBatchNorms;
        m_result.replacedClips = m_prepared->replacedClips;
        m_result.equalizationSets = static_cast<std::size_t>(std::count_if(
            m_prepared->sets.begin(), m_prepared->sets.end(), [](const auto& set) { return set.enabled; }));
        m_result.migratedInputs = m_prepared->migrations.size();
        m_result.notices = m_session.model.notices;
        if (!m_session.part.frontier.empty()) {
            m_result.unevaluated = m_session.part.notice(*m_session.model.graph);
            m_result.notices.push_back(m_result.unevaluated);
        }
        if (!m_session.dataNotice.empty()) m_result.notices.push_back(m_session.dataNotice);
        m_result.notices.insert(m_result.notices.end(), m_prepared->notices.begin(),
                                m_prepared->notices.end());
        m_result.notices.insert(m_result.notices.end(), idleRules.begin(), idleRules.end());
        if (m_result.counts.quantized == 0 && !m_result.layers.empty())
            m_result.notices.emplace_back(
                "no layer is quantized: every layer is skipped or cannot be quantized, for the reason shown "
                "with the layer");
        if (!skips.tailNotice.empty()) m_result.notices.push_back(skips.tailNotice);
        noteIdleSettings();
        m_result.version =
            VersionBuilder()
                .add(m_session.model.graph->version())
                .add(std::string_view(configToJson(withoutOffRules(m_result.config))))
                .add(m_session.evaluationData ? m_session.evaluationData->version() : Version{})
                .finish();
        m_result.randomInputs = m_session.randomInputs;
        m_state.context = contextOf(m_result.config);
        for (const LayerResult& layer : m_result.layers)
            if (layer.state == LayerState::Quantized) m_state.quantized.insert(layer.node);
        if (m_learn) m_result.expected = m_session.effectModel.expect(m_session.measured, m_state);
        m_result.seconds.transform = watch.seconds();
    }

    /// With the shapes of the samples, as soon as the network has run on one.
    void measureCosts() {
        if (m_session.sourceShapes.dims) setCosts(m_session.sourceShapes);
    }

    /// Without samples, for shapes that shape inference did not determine.
    void assumeCosts() {
        if (std::ranges::all_of(m_result.layers,
                                [](const LayerResult& layer) { return layer.macsReason.empty(); }))
            return;
        if (const MeasuredShapes& ones = m_session.shapesOfOnes(); ones.dims) setCosts(ones);
    }

    void setCosts(const MeasuredShapes& shapes) {
        for (LayerResult& layer : m_result.layers) {
            const LayerCost cost =
                costOf(*m_session.model.graph, m_session.model.graph->node(layer.node), shapes);
            layer.macs = cost.macs;
            layer.macsReason = cost.macsReason;
        }
    }

    /// Everything that numbers depend on but which layers are quantized.
    Version contextOf(const QuantizationConfig& wanted) const {
        QuantizationConfig config =
            onlyFields(wanted, [](const Field& field) { return field.effect == FieldEffect::Results; });
        for (auto layer = config.layers.begin(); layer != config.layers.end();) {
            layer->second.quantize.reset();
            layer->second.comment.clear();
            layer = layer->second.empty() ? config.layers.erase(layer) : std::next(layer);
        }
        return VersionBuilder()
            .add(m_session.model.graph->version())
            .add(std::string_view(configToJson(config)))
            .add(m_session.evaluationData ? m_session.evaluationData->version() : Version{})
            .finish();
    }

    /// Adds notices about settings of single layers that have no effect.
    void noteIdleSettings() {
        const Graph& source = *m_session.model.graph;
        const auto note = [&](const std::string& name, const char* wish) {
            const auto node = source.findNode(name);
            if (!node) return;
            const LayerResult& layer = m_result.layers[node->index()];
            if (layer.state == LayerState::Folded)
                m_result.notices.push_back(
                    fmt::format("{} '{}' has no effect: it is folded into '{}'", wish, name, layer.host));
            else if (layer.state == LayerState::Float)
                m_result.notices.push_back(
                    fmt::format("{} '{}' has no effect: {}", wish, name, layer.reason));
        };
        for (const SkipRule& rule : m_result.config.rules)
            if (rule.kind == SkipKind::Node && !rule.off)
                for (const std::string& name : rule.layers) note(name, "skipping");
        for (const auto& [name, settings] : m_result.config.layers)
            if (settings.quantize == true) note(name, "quantizing");
    }

    /// Adds a notice about labels that exceed the number of classes.
    void noteLabels() {
        const Dataset& data = *m_session.evaluationData;
        if (!data.hasLabels() || !m_floating->task || m_floating->descs[0].dims.size() != 2) return;
        const std::size_t classes = m_floating->widths[0];
        std::size_t beyond = 0;
        for (std::size_t s = 0; s < data.size(); ++s) {
            const auto label = data.label(s);
            if (label && static_cast<std::size_t>(*label) >= classes) ++beyond;
        }
        if (beyond > 0)
            m_result.notices.push_back(fmt::format(
                "{} of {} labels are beyond the network's {} classes and count as wrong; is this the right "
                "data?",
                beyond, data.size(), classes));
    }

    std::shared_ptr<NetworkOutputs> outputsFor(const Version& version) {
        if (auto* known = m_session.outputs.find(version)) return *known;
        return m_session.outputs.store(version, emptyOutputs());
    }

    std::shared_ptr<NetworkOutputs> emptyOutputs() const {
        auto outputs = std::make_shared<NetworkOutputs>();
        outputs->task = m_session.part.whole();
        return outputs;
    }

    /// Runs the missing chunks below `chunks`.
    /// `partial(samples)` is called on the way, with how many are done.
    void ensure(NetworkOutputs& outputs, ProgramSpec spec, std::size_t chunks, const char* stage,
                double& seconds, const std::function<void(std::size_t)>& partial = {}) {
        const SampleBatches& batches = *m_session.evaluationBatches;
        const std::size_t begin = (outputs.known + batches.batch() - 1) / batches.batch();
        if (begin >= chunks) return;
        const Stopwatch watch;
        const GraphPtr graph = spec.graph;
        spec.kernels = m_session.kernels;
        ResumeOptions resume = m_session.resumeOptions(graph);
        resume.keep = m_keep;
        const BoundProgram program = resumedProgram(std::move(spec), resume, batches.chunks(), begin, chunks);
        RunControl run = control(stage);
        if (partial)
            run.progress = [&, told = run.progress](std::size_t done, std::size_t total) {
                if (told) told(done, total);
                if (done < total) partial(begin * batches.batch() + done);
            };
        m_session.work.computed += program.program->allDims().size();
        runOutputs(program, m_session.part.endsOf(*graph), batches, begin, chunks, run, outputs);
        seconds += watch.seconds();
    }

    ProgramSpec floatSpec(const GraphPtr& graph) const {
        return floatProgram(graph, m_session.evaluationBatches->inputsOf(*graph),
                            m_session.part.endsOf(*graph));
    }

    void accuracies(Depth depth) {
        Session::Impl& session = m_session;
        const Dataset& data = *session.evaluationData;
        session.openBatches();
        const SampleBatches& batches = *session.evaluationBatches;
        m_result.samples = batches.samples();

        const GraphPtr& source = session.model.graph;
        m_floating = outputsFor(source->version());
        const ProgramSpec sourceSpec = floatSpec(source);
        const std::size_t all = batches.chunks();
        const std::size_t rough =
            std::min(all, (session.roughSamples + batches.batch() - 1) / batches.batch());
        const auto samplesIn = [&](std::size_t chunks) {
            return chunks == all ? batches.samples() : std::min(session.roughSamples, batches.samples());
        };
        m_result.rough = rough < all;
        ensure(*m_floating, sourceSpec, rough, "float network", m_result.seconds.floating);
        measureCosts();
        noteLabels();
        m_result.floating = accuracyOf(*m_floating, *m_floating, data, samplesIn(rough));
        publish();

        const Stopwatch calibration;
        const auto graph = m_prepared;
        const Statistics& ranges =
            session.statistics(*graph, m_units, m_result.config, control("calibrating"));
        auto plan = std::make_shared<Plan>(
            session.resolve(graph, m_units, ranges, m_result.config, control("refining layers"), !m_keep));
        plan->arithmetic = session.arithmeticFor(m_result.config);
        m_plan = plan;
        m_result.calibrationSamples = session.calibrationSamples;
        if (const int asked = m_result.config.calibration.samples;
            session.calibrationSamples < static_cast<std::size_t>(asked))
            m_result.notices.push_back(
                fmt::format("calibrated on {} samples: {} were requested, but there are no more",
                            session.calibrationSamples, asked));
        m_result.notices.insert(m_result.notices.end(), m_plan->notices.begin(), m_plan->notices.end());
        m_result.seconds.calibrate = calibration.seconds();

        fillKnownMetrics();

        m_quantized =
            m_rerun ? m_session.outputs.store(m_plan->version, emptyOutputs()) : outputsFor(m_plan->version);
        const std::vector<TensorId> ends = session.part.endsOf(*graph->graph);
        const ProgramSpec quantizedSpec = m_plan->networkSpec(batches.inputsOf(*graph->graph), ends);
        const auto judgeFirst = [&](std::size_t samples) {
            m_result.floating = accuracyOf(*m_floating, *m_floating, data, samples);
            m_result.quantized = accuracyOf(*m_quantized, *m_floating, data, samples);
        };
        m_result.rough = rough < all;
        ensure(*m_quantized, quantizedSpec, rough, "quantized network", m_result.seconds.quantized);
        judgeFirst(samplesIn(rough));
        if (depth > Depth::Rough && rough < all) {
            publish();
            ensure(*m_floating, sourceSpec, all, "float network", m_result.seconds.floating);
            // The interval grows sharper as samples come in.
            Stopwatch sincePublished;
            ensure(*m_quantized, quantizedSpec, all, "quantized network", m_result.seconds.quantized,
                   [&](std::size_t done) {
                       if (sincePublished.seconds() < kPublishSeconds || !m_observer.updated) return;
                       judgeFirst(done);
                       publish();
                       sincePublished = Stopwatch();
                   });
            m_result.rough = false;
            judgeFirst(batches.samples());
        }
        if (!m_result.rough) {
            m_state.measure(*m_result.quantized);
            if (m_learn) {
                m_session.effectModel.observe(m_session.measured, m_state);
                m_session.measured = m_state;
            }
        }
        const std::size_t judged = m_result.quantized->samples;
        m_result.classes = std::make_shared<const std::vector<std::int32_t>>(classesOf(*m_quantized, judged));
        m_result.floatClasses =
            std::make_shared<const std::vector<std::int32_t>>(classesOf(*m_floating, judged));
        std::vector<std::int32_t> wanted = *m_result.floatClasses;
        for (std::size_t sample = 0; data.hasLabels() && sample < wanted.size(); ++sample)
            wanted[sample] = data.label(sample).value_or(-1);
        m_result.wanted = std::make_shared<const std::vector<std::int32_t>>(std::move(wanted));
    }

    void preparedAccuracy() {
        double seconds = 0;
        const auto outputs = outputsFor(m_prepared->graph->version());
        ensure(*outputs, floatSpec(m_prepared->graph), m_session.evaluationBatches->chunks(),
               "transformed float network", seconds);
        m_result.prepared = accuracyOf(*outputs, *m_floating, *m_session.evaluationData, m_result.samples);
        m_result.seconds.floating += seconds;
        noteDrift(*m_result.prepared);
    }

    void noteDrift(const Accuracy& prepared) {
        if (!prepared.sqnrDb || *prepared.sqnrDb >= kRoundingSqnr) return;
        const TransformOptions& transforms = m_result.config.transforms;
        std::vector<std::string> causes;
        if (m_prepared->replacedClips > 0)
            causes.push_back(
                fmt::format("Relu only equals Clip(0, 6) if no value exceeds 6 ({} were replaced)",
                            m_prepared->replacedClips));
        if (transforms.highBiasFold && transforms.equalization.profile != EqualizationProfile::Off)
            causes.emplace_back(
                "high-bias folding is only exact if activations stay above the shifted amount");
        if (causes.empty())
            causes.emplace_back(
                "these transforms should be exact up to rounding, so do not trust them on this model");
        m_result.notices.push_back(fmt::format(
            "the transforms alone change the float network's outputs to {:.1f} dB SQNR (largest difference "
            "{:.3g}): {}",
            *prepared.sqnrDb, prepared.maxAbsDiff.value_or(0), fmt::join(causes, "; ")));
    }

    /// Returns the version of a local metric: of the unit's output in the float network, which depends on its
    /// inputs and computation, and of its quantizers.
    Version localVersion(std::size_t unit) const {
        return VersionBuilder()
            .add(m_alone[unit])
            .add(m_units.units[unit].quantizesOutput)
            .add(m_prepared->operators)
            .add(m_plan->quantizers[unit].version)
            .finish();
    }

    /// Of a unit's output in the float network, and in the float and the quantized network.
    void versionUnits() {
        const auto inputs = m_session.evaluationBatches->inputsOf(*m_prepared->graph);
        const auto floating =
            tensorVersions(floatProgram(m_prepared->graph, inputs, {}), m_session.samplesVersion);
        const auto quantized = tensorVersions(m_plan->networkSpec(inputs, {}), m_session.samplesVersion);
        for (const Unit& unit : m_units.units) {
            m_alone.push_back(floating[unit.output.index()]);
            m_cumulative.push_back(VersionBuilder()
                                       .add(floating[unit.output.index()])
                                       .add(quantized[unit.output.index()])
                                       .finish());
        }
    }

    LayerResult& layerOf(std::size_t unit) {
        return m_result.layers[m_prepared->sourceOf[m_units.units[unit].layer.index()].index()];
    }

    /// Fills in cached layer metrics: after a skip, these are all local metrics and the cumulative ones
    /// before it.
    void fillKnownMetrics() {
        if (const auto* sweep = m_session.sweeps.find(m_plan->version))
            for (const auto& [node, effect] : *sweep)
                m_result.layers[node.index()].leaveOneOut = effect.change;
        if (m_cumulative.empty()) versionUnits();
        for (std::size_t u = 0; u < m_units.units.size(); ++u) {
            if (const auto* known = m_session.local.find(localVersion(u))) layerOf(u).local = known->result();
            if (const auto* known = m_session.cumulative.find(m_cumulative[u]))
                layerOf(u).cumulative = known->result();
        }
    }

    void weightMetrics() {
        const Stopwatch watch;
        fillWeightDifferences(m_session, *m_prepared, m_units, m_result.config, m_cancel, m_result.layers);
        m_result.seconds.metrics += watch.seconds();
    }

    void metrics() {
        const Stopwatch watch;
        fillKnownMetrics();
        std::vector<std::size_t> local, cumulative;
        for (std::size_t u = 0; u < m_units.units.size(); ++u) {
            if (!layerOf(u).local) local.push_back(u);
            if (!layerOf(u).cumulative) cumulative.push_back(u);
        }
        m_session.work.local += local.size();
        m_session.work.cumulative += cumulative.size();
        if (!local.empty() || !cumulative.empty()) {
            const UnitDifferences measured = measureUnits(
                *m_plan, local, cumulative, *m_session.evaluationBatches,
                m_session.resumeOptions(m_prepared->graph), m_session.kernels, control("layer metrics"));
            for (std::size_t i = 0; i < local.size(); ++i)
                m_session.local.store(localVersion(local[i]), measured.local[i]);
            for (std::size_t i = 0; i < cumulative.size(); ++i)
                m_session.cumulative.store(m_cumulative[cumulative[i]], measured.cumulative[i]);
            fillKnownMetrics();
        }
        m_result.seconds.metrics += watch.seconds();
    }

    Session::Impl& m_session;
    const EvaluationObserver& m_observer;
    const CancelToken& m_cancel;
    bool m_keep = true, m_learn = true, m_rerun = false;
    Stopwatch m_total;
    MeasuredState m_state;
    Evaluation m_result;
    std::shared_ptr<const Prepared> m_prepared;
    UnitList m_units;
    std::shared_ptr<const Plan> m_plan;
    std::shared_ptr<NetworkOutputs> m_floating, m_quantized;
    std::vector<Version> m_alone, m_cumulative;  ///< one a unit
};

}  // namespace

EvaluationPtr Session::evaluate(const QuantizationConfig& config, Depth depth,
                                const EvaluationObserver& observer, const CancelToken& cancel) try {
    return EvaluationRun(*m_impl, config, observer, cancel).run(depth);
} catch (...) {
    m_impl->rethrowWithModel();
}

EvaluationPtr Session::experiment(const QuantizationConfig& config, Depth depth,
                                  const CancelToken& cancel) try {
    const EvaluationObserver silent;
    EvaluationRun run(*m_impl, config, silent, cancel);
    run.asExperiment();
    return run.run(depth);
} catch (...) {
    m_impl->rethrowWithModel();
}

EvaluationPtr Session::evaluateForSearch(const QuantizationConfig& config, Depth depth,
                                         const CancelToken& cancel) try {
    const EvaluationObserver silent;
    EvaluationRun run(*m_impl, config, silent, cancel);
    run.asWaypoint();
    return run.run(depth);
} catch (...) {
    m_impl->rethrowWithModel();
}

std::optional<ExpectedEffect> forecast(Session& session, const QuantizationConfig& config,
                                       const CancelToken& cancel) {
    const EvaluationObserver silent;
    EvaluationRun run(session.internal(), config, silent, cancel);
    run.asExperiment();
    return run.forecast();
}

std::size_t Session::sampleCount() const {
    m_impl->requireData();
    return m_impl->evaluationData->size();
}

std::string Session::sampleName(std::size_t sample) const {
    m_impl->requireData();
    return m_impl->evaluationData->sampleName(sample);
}

}  // namespace quantloupe
