// SPDX-License-Identifier: Apache-2.0
// Session::evaluate: runs the stages of one configuration, using cached results if their versions match, and
// publishes a snapshot after each.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include "base/error.h"
#include "config/config_json.h"
#include "config/precision_rules.h"
#include "config/skip_rules.h"
#include "model/layer_cost.h"
#include "session/caches/context_version.h"
#include "session/caches/tensor_versions.h"
#include "session/session_parts.h"
#include "session/stages/evaluation_notices.h"
#include "session/stages/judge_samples.h"
#include "session/stages/unit_metrics.h"
#include "session/stages/user_metrics.h"
#include "session/stages/weight_sensitivity.h"
#include "session/stopwatch.h"
#include "session/studies/forecast.h"
#include "session/studies/threshold_rules.h"

namespace quantloupe {
namespace {

/// Minimum time between snapshots of the accuracy.
constexpr double kPublishSeconds = 0.1;

class EvaluationRun {
  public:
    EvaluationRun(SessionParts& parts, const QuantizationConfig& config, const EvaluationObserver& observer,
                  const CancelToken& cancel)
        : m_parts(parts), m_observer(observer), m_cancel(cancel) {
        m_result.config = config;
    }

    /// Stores no activations and does not train the effect model.
    void asExperiment() { m_keep = m_learn = false; }
    /// Stores activations, even if the outputs are cached, and does not train the effect model.
    void forSearch() {
        m_learn = false;
        m_rerun = true;
    }

    std::optional<ExpectedEffect> forecast() {
        states();
        return m_parts.predictor.expect(m_state);
    }

    EvaluationPtr run(Depth depth) {
        m_parts.limitCaches();
        states();
        publish();  // shows the graph at once, even if the network cannot run
        weightMetrics();
        if (!m_parts.samples.available()) assumeCosts();
        if (depth == Depth::States || !m_parts.samples.available()) return finish();
        const bool known = m_parts.samples.partKnown();
        m_parts.samples.requireEvaluable();
        if (!known &&
            !m_parts.samples.part().whole()) {  // now the states show which layers are not evaluated
            states();
            weightMetrics();
        }
        accuracies(depth);
        if (depth <= Depth::Accuracy) return finish();
        publish();
        layerMetrics();
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
        RunControl control = m_parts.runner.sharedControl(m_cancel);
        if (m_observer.progress)
            control.progress = [this, stage](std::size_t done, std::size_t total) {
                m_observer.progress({stage, done, total});
            };
        return control;
    }

    /// Adds a list of notices or an optional notice.
    void append(const auto& notices) {
        if constexpr (requires { notices.has_value(); }) {
            if (notices) m_result.notices.push_back(*notices);
        } else {
            m_result.notices.insert(m_result.notices.end(), notices.begin(), notices.end());
        }
    }

    void states() {
        const Stopwatch watch;
        m_cancel.check();
        std::vector<std::string> idleRules;
        const QuantizationConfig measured = withThresholdsMeasured(
            m_parts, m_result.config, control("metrics for threshold rules"), &idleRules);
        m_result.counts = {};
        m_prepared = m_parts.pipeline.prepare(measured, control("channels of inputs"));
        const SkipDecisions skips = resolveSkips(*m_parts.model.graph, measured);
        m_result.covered = skips.covered;
        m_units = findUnits(*m_prepared, skips);
        m_config = withPrecisionsResolved(*m_parts.model.graph, measured);
        m_result.layers = layerStates(*m_prepared, m_units, skips);
        setPrecisions(*m_prepared, m_units, m_config, m_result.layers);
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
        m_result.notices = m_parts.model.notices;
        if (!m_parts.samples.part().frontier.empty()) {
            m_result.unevaluated = m_parts.samples.part().notice(*m_parts.model.graph);
            m_result.notices.push_back(m_result.unevaluated);
        }
        if (!m_parts.samples.notice().empty()) m_result.notices.push_back(m_parts.samples.notice());
        append(m_prepared->notices);
        append(idleRules);
        if (m_result.counts.quantized == 0 && !m_result.layers.empty())
            m_result.notices.emplace_back(
                "no layer is quantized: every layer is skipped or cannot be quantized; each layer shows the "
                "reason");
        if (!skips.tailNotice.empty()) m_result.notices.push_back(skips.tailNotice);
        append(idleSettingNotices(*m_parts.model.graph, m_result.config, m_result.layers));
        m_result.version = VersionBuilder()
                               .add(m_parts.model.graph->version())
                               .add(std::string_view(configToJson(withoutOffRules(m_result.config))))
                               .add(m_parts.samples.evaluationVersion())
                               .finish();
        m_result.randomInputs = m_parts.samples.random();
        m_state.context = contextVersion(*m_parts.model.graph, m_result.config, m_parts.samples.evaluation());
        m_state.quantized.clear();  // a network that is evaluated in part runs twice
        for (const LayerResult& layer : m_result.layers)
            if (layer.state == LayerState::Quantized) m_state.quantized.insert(layer.node);
        if (m_learn) m_result.expected = m_parts.predictor.expect(m_state);
        m_result.seconds.transform = watch.seconds();
    }

    /// Computes the costs of layers from the shapes of the samples, once the network has run on one.
    void measureCosts() {
        if (m_parts.runner.sourceShapes().dims) setCosts(m_parts.runner.sourceShapes());
    }

    /// Computes the costs of layers without samples, if shape inference did not determine all shapes.
    void assumeCosts() {
        if (std::ranges::all_of(m_result.layers,
                                [](const LayerResult& layer) { return layer.macsReason.empty(); }))
            return;
        if (const MeasuredShapes& ones = m_parts.runner.shapesOfOnes(); ones.dims) setCosts(ones);
    }

    void setCosts(const MeasuredShapes& shapes) {
        for (LayerResult& layer : m_result.layers) {
            const LayerCost cost =
                costOf(*m_parts.model.graph, m_parts.model.graph->node(layer.node), shapes);
            layer.macs = cost.macs;
            layer.macsReason = cost.macsReason;
        }
    }

    std::shared_ptr<NetworkOutputs> outputsFor(const Version& version) {
        if (auto* known = m_parts.results.outputs.find(version)) return *known;
        return m_parts.results.outputs.store(version, emptyOutputs());
    }

    std::shared_ptr<NetworkOutputs> emptyOutputs() const {
        return std::make_shared<NetworkOutputs>(quantloupe::emptyOutputs(m_parts.samples));
    }

    /// Runs the missing ones of the first `chunks` chunks. Calls `partial(samples)` with the number of
    /// samples done so far. `wanted`: ResumeOptions::wanted.
    void ensure(NetworkOutputs& outputs, ProgramSpec spec, std::size_t chunks, const char* stage,
                double& seconds, const std::function<void(std::size_t)>& partial = {},
                const std::unordered_set<Version>* wanted = nullptr) {
        const SampleBatches& batches = m_parts.samples.batches();
        const std::size_t begin = (outputs.known + batches.batch() - 1) / batches.batch();
        if (begin >= chunks) return;
        const Stopwatch watch;
        const GraphPtr graph = spec.graph;
        spec.kernels = m_parts.runner.kernels();
        ResumeOptions resume = m_parts.runner.sharedResumeOptions(graph);
        resume.keep = m_keep;
        resume.wanted = wanted;
        const BoundProgram program = resumedProgram(std::move(spec), resume, batches.chunks(), begin, chunks);
        RunControl run = control(stage);
        if (partial && run.group == nullptr)  // other processes have some of the samples
            run.progress = [&, report = run.progress](std::size_t done, std::size_t total) {
                if (report) report(done, total);
                if (done < total) partial(begin * batches.batch() + done);
            };
        m_parts.work.computed += program.program->allDims().size();
        runOutputs(program, m_parts.samples.part().endsOf(*graph), batches, begin, chunks, run, outputs);
        seconds += watch.seconds();
    }

    ProgramSpec floatSpec(const GraphPtr& graph) const {
        return floatProgram(graph, m_parts.samples.batches().inputsOf(*graph),
                            m_parts.samples.part().endsOf(*graph));
    }

    Accuracy accuracyAgainstFloat(const NetworkOutputs& outputs, std::size_t samples) const {
        return accuracyOf(outputs, *m_floating, *m_parts.samples.evaluation(), m_parts.samples.judge(),
                          samples);
    }

    void accuracies(Depth depth) {
        SessionSamples& samples = m_parts.samples;
        const Dataset& data = *samples.evaluation();
        const SampleBatches& batches = samples.batches();
        m_result.samples = batches.samples();

        const GraphPtr& source = m_parts.model.graph;
        m_floating = outputsFor(source->version());
        const ProgramSpec sourceSpec = floatSpec(source);
        const std::size_t all = batches.chunks();
        const std::size_t rough = std::min(all, (samples.rough() + batches.batch() - 1) / batches.batch());
        const auto samplesIn = [&](std::size_t chunks) {
            return chunks == all ? batches.samples() : std::min(samples.rough(), batches.samples());
        };
        m_result.rough = rough < all;
        // Metrics compare with the prepared network, so other activations of the source network are not
        // needed again.
        const std::unordered_set<Version> wanted =
            m_floating->complete(batches.samples()) ? std::unordered_set<Version>() : preparedVersions();
        ensure(*m_floating, sourceSpec, rough, "float network", m_result.seconds.floating, {}, &wanted);
        measureCosts();
        append(labelNotice(data, *m_floating));
        const auto judgeFloat = [&](std::size_t count) {
            judgeSamples(m_parts.samples, *m_floating, count, sourceSpec, m_cancel);
        };
        judgeFloat(samplesIn(rough));
        if (samples.judge() != nullptr && !samples.judge()->notice().empty())
            m_result.notices.push_back(samples.judge()->notice());
        m_result.floating = accuracyAgainstFloat(*m_floating, samplesIn(rough));
        publish();

        const Stopwatch calibration;
        const auto graph = m_prepared;
        const Statistics& ranges =
            m_parts.pipeline.statistics(*graph, m_units, m_config, control("calibrating"));
        auto plan = std::make_shared<Plan>(
            m_parts.pipeline.resolve(graph, m_units, ranges, m_config, control("refining layers"), !m_keep));
        m_plan = plan;
        m_result.calibrationSamples = samples.calibrationFor(m_config).batches.samples();
        if (const int requested = m_result.config.calibration.samples;
            m_result.calibrationSamples < static_cast<std::size_t>(requested))
            m_result.notices.push_back(
                fmt::format("calibrated on {} samples: {} were requested, but there are no more",
                            m_result.calibrationSamples, requested));
        append(m_plan->notices);
        m_result.seconds.calibrate = calibration.seconds();

        m_metrics.emplace(m_parts, m_prepared, m_units, m_plan);
        m_metrics->fillKnown(m_result.layers);

        m_quantized = m_rerun ? m_parts.results.outputs.store(m_plan->version, emptyOutputs())
                              : outputsFor(m_plan->version);
        const std::vector<TensorId> ends = samples.part().endsOf(*graph->graph);
        const ProgramSpec quantizedSpec = m_plan->networkSpec(batches.inputsOf(*graph->graph), ends);
        const auto judgeFirst = [&](std::size_t count) {
            judgeFloat(count);
            judgeSamples(m_parts.samples, *m_quantized, count, quantizedSpec, m_cancel);
            m_result.floating = accuracyAgainstFloat(*m_floating, count);
            m_result.quantized = accuracyAgainstFloat(*m_quantized, count);
        };
        m_result.rough = rough < all;
        ensure(*m_quantized, quantizedSpec, rough, "quantized network", m_result.seconds.quantized);
        judgeFirst(samplesIn(rough));
        if (depth > Depth::Rough && rough < all) {
            publish();
            ensure(*m_floating, sourceSpec, all, "float network", m_result.seconds.floating, {}, &wanted);
            // Snapshots show the accuracy and its interval as more samples are evaluated.
            Stopwatch sincePublished;
            ensure(*m_quantized, quantizedSpec, all, "quantized network", m_result.seconds.quantized,
                   [&](std::size_t done) {
                       if (sincePublished.seconds() < kPublishSeconds || !m_observer.updated) return;
                       if (samples.judge() != nullptr && !samples.part().whole())
                           return;  // runs the network once more
                       judgeFirst(done);
                       publish();
                       sincePublished = Stopwatch();
                   });
            m_result.rough = false;
            judgeFirst(batches.samples());
        }
        addUserMetric(m_parts, *m_floating, *m_quantized, m_result, m_cancel);
        if (!m_result.rough) {
            m_state.measure(*m_result.quantized);
            if (m_learn) {
                m_parts.predictor.learn(m_state);
            }
        }
        const std::size_t judged = m_result.quantized->samples;
        m_result.classes = std::make_shared<const std::vector<std::int32_t>>(classesOf(*m_quantized, judged));
        m_result.floatClasses =
            std::make_shared<const std::vector<std::int32_t>>(classesOf(*m_floating, judged));
        std::vector<std::int32_t> rightClasses = *m_result.floatClasses;
        for (std::size_t sample = 0; data.hasLabels() && sample < rightClasses.size(); ++sample)
            rightClasses[sample] = data.label(sample).value_or(-1);
        m_result.rightClasses = std::make_shared<const std::vector<std::int32_t>>(std::move(rightClasses));
        addScores(m_parts.samples, *m_floating, *m_quantized, judged, m_result);
    }

    std::unordered_set<Version> preparedVersions() const {
        const auto inputs = m_parts.samples.batches().inputsOf(*m_prepared->graph);
        const std::vector<Version> versions =
            tensorVersions(floatProgram(m_prepared->graph, inputs, {}), m_parts.samples.version());
        return {versions.begin(), versions.end()};
    }

    /// Measures the layers and the accuracy of the prepared float network. Metrics need most of its tensors,
    /// so one pass computes both.
    void layerMetrics() {
        const Stopwatch watch;
        // Compared by version, because conversions between precisions do not change the float network.
        const auto versions = tensorVersions(floatSpec(m_prepared->graph), m_parts.samples.version());
        VersionBuilder content;
        for (const TensorId end : m_parts.samples.part().endsOf(*m_prepared->graph))
            content.add(versions[end.index()]);
        const auto outputs = outputsFor(content.finish());
        m_metrics->measure(m_result.layers, control("layer metrics"), *outputs);
        m_result.seconds.metrics += watch.seconds();
        const ProgramSpec spec = floatSpec(m_prepared->graph);
        ensure(*outputs, spec, m_parts.samples.batches().chunks(), "transformed float network",
               m_result.seconds.floating);
        judgeSamples(m_parts.samples, *outputs, m_result.samples, spec, m_cancel);
        m_result.prepared = accuracyAgainstFloat(*outputs, m_result.samples);
        append(driftNotice(*m_prepared, m_result.config.transforms, *m_result.prepared));
    }

    void weightMetrics() {
        const Stopwatch watch;
        fillWeightDifferences(m_parts.results, m_parts.pipeline.quantizers(), *m_prepared, m_units, m_config,
                              m_cancel, m_result.layers);
        m_result.seconds.metrics += watch.seconds();
    }

    SessionParts& m_parts;
    const EvaluationObserver& m_observer;
    const CancelToken& m_cancel;
    bool m_keep = true, m_learn = true, m_rerun = false;
    Stopwatch m_total;
    MeasuredState m_state;
    Evaluation m_result;
    QuantizationConfig m_config;  ///< with precisions resolved
    std::shared_ptr<const Prepared> m_prepared;
    UnitList m_units;
    std::shared_ptr<const Plan> m_plan;
    std::shared_ptr<NetworkOutputs> m_floating, m_quantized;
    std::optional<UnitMetrics> m_metrics;  ///< empty until there is a plan
};

}  // namespace

EvaluationPtr Session::evaluate(const QuantizationConfig& config, Depth depth,
                                const EvaluationObserver& observer, const CancelToken& cancel) try {
    return EvaluationRun(*m_parts, config, observer, cancel).run(depth);
} catch (...) {
    m_parts->rethrowWithModel();
}

EvaluationPtr Session::experiment(const QuantizationConfig& config, Depth depth,
                                  const CancelToken& cancel) try {
    const EvaluationObserver silent;
    EvaluationRun run(*m_parts, config, silent, cancel);
    run.asExperiment();
    return run.run(depth);
} catch (...) {
    m_parts->rethrowWithModel();
}

EvaluationPtr Session::evaluateForSearch(const QuantizationConfig& config, Depth depth,
                                         const CancelToken& cancel) try {
    const EvaluationObserver silent;
    EvaluationRun run(*m_parts, config, silent, cancel);
    run.forSearch();
    return run.run(depth);
} catch (...) {
    m_parts->rethrowWithModel();
}

std::optional<ExpectedEffect> forecast(Session& session, const QuantizationConfig& config,
                                       const CancelToken& cancel) {
    const EvaluationObserver silent;
    EvaluationRun run(partsOf(session), config, silent, cancel);
    run.asExperiment();
    return run.forecast();
}

}  // namespace quantloupe
