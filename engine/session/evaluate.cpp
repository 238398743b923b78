// SPDX-License-Identifier: Apache-2.0
// Session::evaluate: runs the stages of one configuration and publishes a snapshot after each. Stages are
// functions: their inputs are parameters, and they return their results. Cached results are used if their
// versions match.
#include <algorithm>

#include "base/text.h"
#include "session/caches/tensor_versions.h"
#include "session/stages/evaluation_notices.h"
#include "session/stages/judge_samples.h"
#include "session/stages/network_run.h"
#include "session/stages/network_states.h"
#include "session/stages/unit_metrics.h"
#include "session/stages/user_metrics.h"
#include "session/stages/weight_sensitivity.h"
#include "session/stopwatch.h"

namespace quantloupe {
namespace {

/// Minimum time between snapshots of the accuracy.
constexpr double kPublishSeconds = 0.1;

void add(std::vector<std::string>& notices, std::optional<std::string> notice) {
    if (notice && !notice->empty()) notices.push_back(std::move(*notice));
}

/// The states of the layers, and what the next stages need.
struct States {
    ResolvedNetwork network;
    MeasuredState predictable;
    Evaluation evaluation;
};

States resolveStates(const EvaluationRequest& request) {
    const Stopwatch watch;
    ResolvedNetwork network = resolveNetwork(request);
    Evaluation evaluation = evaluationOf(request, network);
    MeasuredState predictable = predictableState(request, evaluation);
    if (request.purpose == EvaluationPurpose::Edit)
        evaluation.expected = request.parts.predictor.expect(predictable);
    evaluation.seconds.transform = watch.seconds();
    return {std::move(network), std::move(predictable), std::move(evaluation)};
}

/// Fills in the weight metrics of the layers. Returns the seconds that it took.
double measureWeights(const EvaluationRequest& request, const ResolvedNetwork& network,
                      std::vector<LayerResult>& layers) {
    const Stopwatch watch;
    fillWeightDifferences(request.parts.results, request.parts.pipeline.quantizers(), *network.prepared,
                          network.units, network.config, request.cancel, layers);
    return watch.seconds();
}

/// Accuracies are computed on the rough samples first.
struct SampleSteps {
    std::size_t roughChunks, allChunks;
    std::size_t roughSamples, allSamples;

    explicit SampleSteps(SessionSamples& samples)
        : allChunks(samples.batches().chunks()), allSamples(samples.batches().samples()) {
        const std::size_t batch = samples.batches().batch();
        roughChunks = std::min(allChunks, (samples.rough() + batch - 1) / batch);
        roughSamples = twoSteps() ? std::min(samples.rough(), allSamples) : allSamples;
    }
    bool twoSteps() const { return roughChunks < allChunks; }
};

/// Returns the versions of the prepared float network's tensors.
std::vector<Version> preparedVersions(const EvaluationRequest& request, const ResolvedNetwork& network) {
    SessionSamples& samples = request.parts.samples;
    return tensorVersions(floatNetwork(samples, network.prepared->graph), samples.version());
}

/// Returns the network of the file, which all accuracies are compared with.
NetworkRun sourceRun(const EvaluationRequest& request, const ResolvedNetwork& network) {
    SessionSamples& samples = request.parts.samples;
    const GraphPtr& source = request.parts.model.graph;
    NetworkRun run(request, floatNetwork(samples, source), source->version(), "float network");
    // Metrics compare with the prepared network, so other activations of the source network are not needed
    // again.
    std::unordered_set<Version> needed;
    if (!run.outputs().complete(samples.batches().samples())) {
        const std::vector<Version> versions = preparedVersions(request, network);
        needed = {versions.begin(), versions.end()};
    }
    run.storeOnly(std::move(needed));
    return run;
}

struct PlannedNetwork {
    std::shared_ptr<const Plan> plan;
    std::size_t calibrationSamples = 0;
    std::vector<std::string> notices;
    double seconds = 0;
};

/// Calibrates, and resolves the quantizers.
PlannedNetwork planNetwork(const EvaluationRequest& request, const ResolvedNetwork& network) {
    const Stopwatch watch;
    Pipeline& pipeline = request.parts.pipeline;
    const Statistics& ranges =
        pipeline.statistics(*network.prepared, network.units, network.config, request.control("calibrating"));
    PlannedNetwork planned;
    planned.plan = std::make_shared<const Plan>(
        pipeline.resolve(network.prepared, network.units, ranges, network.config, request.control(kRefining),
                         request.purpose == EvaluationPurpose::Experiment));
    planned.calibrationSamples = request.parts.samples.calibrationFor(network.config).batches.samples();
    if (const int requested = request.config.calibration.samples;
        planned.calibrationSamples < static_cast<std::size_t>(requested))
        planned.notices.push_back(
            fmt::format("calibrated on {} samples: {} were requested, but there are no more",
                        planned.calibrationSamples, requested));
    append(planned.notices, planned.plan->notices);
    add(planned.notices, joinedRangesNotice(*planned.plan));
    planned.seconds = watch.seconds();
    return planned;
}

NetworkRun quantizedRun(const EvaluationRequest& request, const Plan& plan) {
    SessionSamples& samples = request.parts.samples;
    const Graph& graph = *plan.prepared->graph;
    NetworkRun run(request, plan.networkSpec(samples.batches().inputsOf(graph), samples.part().endsOf(graph)),
                   plan.version, "quantized network");
    if (request.purpose == EvaluationPurpose::Search) run.restart();
    return run;
}

/// Runs the float network on the rough samples.
Evaluation withFloatAccuracy(const EvaluationRequest& request, const SampleSteps& steps, NetworkRun& floating,
                             Evaluation result) {
    SessionParts& parts = request.parts;
    result.samples = steps.allSamples;
    result.rough = steps.twoSteps();
    result.seconds.floating += floating.run(steps.roughChunks);
    setCosts(*parts.model.graph, parts.runner.sourceShapes(), result.layers);
    add(result.notices, floating.outputs().scoresNotice);
    result.labelNotice = labelNotice(*parts.samples.evaluation(), floating.outputs()).value_or("");
    add(result.notices, result.labelNotice);
    floating.judge(steps.roughSamples);
    if (const TaskJudge* judge = parts.samples.judge()) add(result.notices, judge->notice());
    result.floating = floating.accuracyAgainst(floating, steps.roughSamples);
    return result;
}

/// Runs the quantized network on the rough samples and, for more depth, both networks on all samples.
/// Publishes the accuracy as more and more samples are evaluated.
Evaluation withAccuracy(const EvaluationRequest& request, Depth depth, const SampleSteps& steps,
                        NetworkRun& floating, NetworkRun& quantized, Evaluation result) {
    SessionSamples& samples = request.parts.samples;
    const auto compareFirst = [&](std::size_t count) {
        floating.judge(count);
        quantized.judge(count);
        result.floating = floating.accuracyAgainst(floating, count);
        result.quantized = quantized.accuracyAgainst(floating, count);
    };
    result.seconds.quantized += quantized.run(steps.roughChunks);
    compareFirst(steps.roughSamples);
    if (depth > Depth::Rough && steps.twoSteps()) {
        request.publish(result);
        result.seconds.floating += floating.run(steps.allChunks);
        // Judging a network that is evaluated in part runs it once more.
        const bool judgesOutputs = samples.judge() == nullptr || samples.part().whole();
        Stopwatch sincePublished;
        result.seconds.quantized += quantized.run(steps.allChunks, [&](std::size_t done) {
            if (sincePublished.seconds() < kPublishSeconds || !request.observer.updated || !judgesOutputs)
                return;
            compareFirst(done);
            request.publish(result);
            sincePublished = Stopwatch();
        });
        result.rough = false;
        compareFirst(steps.allSamples);
    }
    addUserMetric(request.parts, floating.outputs(), quantized.outputs(), result, request.cancel);
    return result;
}

/// Adds the results of each sample: predicted classes, and scores of a graded task.
Evaluation withSampleResults(const EvaluationRequest& request, const NetworkRun& floating,
                             const NetworkRun& quantized, Evaluation result) {
    using Classes = std::vector<std::int32_t>;
    const Dataset& data = *request.parts.samples.evaluation();
    const std::size_t count = result.quantized->samples;
    result.classes = std::make_shared<const Classes>(classesOf(quantized.outputs(), count));
    result.floatClasses = std::make_shared<const Classes>(classesOf(floating.outputs(), count));
    Classes rightClasses = *result.floatClasses;
    for (std::size_t sample = 0; data.hasLabels() && sample < rightClasses.size(); ++sample)
        rightClasses[sample] = data.label(sample).value_or(-1);
    result.rightClasses = std::make_shared<const Classes>(std::move(rightClasses));
    addScores(request.parts.samples, floating.outputs(), quantized.outputs(), count, result);
    return result;
}

/// Measures the layers and the accuracy of the prepared float network. Metrics need most of its tensors, so
/// one pass computes both.
Evaluation withLayerMetrics(const EvaluationRequest& request, const SampleSteps& steps,
                            const ResolvedNetwork& network, UnitMetrics& metrics, const NetworkRun& floating,
                            Evaluation result) {
    const Stopwatch watch;
    SessionSamples& samples = request.parts.samples;
    ProgramSpec spec = floatNetwork(samples, network.prepared->graph);
    // Compared by version, because conversions between precisions do not change the float network.
    const std::vector<Version> versions = preparedVersions(request, network);
    VersionBuilder content;
    for (const TensorId end : spec.observed) content.add(versions[end.index()]);
    NetworkRun prepared(request, std::move(spec), content.finish(), "transformed float network");
    metrics.measure(result.layers, request.control("layer metrics"), prepared.outputs());
    result.seconds.metrics += watch.seconds();
    result.seconds.floating += prepared.run(steps.allChunks);
    prepared.judge(steps.allSamples);
    result.prepared = prepared.accuracyAgainst(floating, steps.allSamples);
    add(result.notices, driftNotice(*network.prepared, request.config.transforms, *result.prepared));
    return result;
}

/// Runs the stages up to `depth`.
Evaluation runStages(const EvaluationRequest& request, Depth depth) {
    SessionParts& parts = request.parts;
    parts.limitCaches();
    States states = resolveStates(request);
    request.publish(states.evaluation);  // shows the graph at once, even if the network cannot run
    if (depth > Depth::Structure)
        states.evaluation.seconds.metrics = measureWeights(request, states.network, states.evaluation.layers);
    if (!parts.samples.available()) assumeCosts(*parts.model.graph, parts.runner, states.evaluation.layers);
    if (depth <= Depth::States || !parts.samples.available()) return std::move(states.evaluation);

    const bool partKnown = parts.samples.partKnown();
    parts.samples.requireEvaluable();
    if (!partKnown && !parts.samples.part().frontier.empty()) {  // now the states show what is evaluated
        const double seconds = states.evaluation.seconds.metrics;
        states = resolveStates(request);
        states.evaluation.seconds.metrics =
            seconds + measureWeights(request, states.network, states.evaluation.layers);
    }
    const ResolvedNetwork& network = states.network;
    const SampleSteps steps(parts.samples);
    NetworkRun floating = sourceRun(request, network);
    Evaluation result = withFloatAccuracy(request, steps, floating, std::move(states.evaluation));
    request.publish(result);

    const PlannedNetwork planned = planNetwork(request, network);
    result.calibrationSamples = planned.calibrationSamples;
    append(result.notices, planned.notices);
    result.seconds.calibrate = planned.seconds;
    fillPlannedWeightDifferences(parts.results, *planned.plan, result.layers);
    UnitMetrics metrics(parts, network.prepared, network.units, planned.plan);
    metrics.fillKnown(result.layers);

    NetworkRun quantized = quantizedRun(request, *planned.plan);
    result = withAccuracy(request, depth, steps, floating, quantized, std::move(result));
    if (!result.rough && request.purpose == EvaluationPurpose::Edit) {
        states.predictable.measure(*result.quantized);
        parts.predictor.learn(states.predictable);
    }
    add(result.notices, undefinedNotice(*parts.samples.evaluation(), floating.outputs(), quantized.outputs(),
                                        *result.quantized));
    add(result.notices, outputNotice(*result.quantized));
    result = withSampleResults(request, floating, quantized, std::move(result));
    if (depth <= Depth::Accuracy) return result;
    request.publish(result);
    return withLayerMetrics(request, steps, network, metrics, floating, std::move(result));
}

EvaluationPtr evaluateFor(const EvaluationRequest& request, Depth depth) {
    const Stopwatch watch;
    Evaluation result = request.parts.withFreedMemory([&] { return runStages(request, depth); });
    add(result.notices, request.parts.memoryNotice());
    result.complete = true;
    result.seconds.total = watch.seconds();
    auto evaluation = std::make_shared<const Evaluation>(std::move(result));
    if (request.observer.updated) request.observer.updated(evaluation);
    return evaluation;
}

}  // namespace

EvaluationPtr Session::evaluate(const QuantizationConfig& config, Depth depth,
                                const EvaluationObserver& observer, const CancelToken& cancel) try {
    return evaluateFor({*m_parts, config, observer, cancel, EvaluationPurpose::Edit}, depth);
} catch (...) {
    m_parts->rethrowWithModel();
}

EvaluationPtr Session::experiment(const QuantizationConfig& config, Depth depth,
                                  const CancelToken& cancel) try {
    const EvaluationObserver silent;
    return evaluateFor({*m_parts, config, silent, cancel, EvaluationPurpose::Experiment}, depth);
} catch (...) {
    m_parts->rethrowWithModel();
}

EvaluationPtr Session::exactExperiment(const QuantizationConfig& config, Depth depth,
                                       const CancelToken& cancel) try {
    const EvaluationObserver silent;
    return evaluateFor({*m_parts, config, silent, cancel, EvaluationPurpose::ExactExperiment}, depth);
} catch (...) {
    m_parts->rethrowWithModel();
}

EvaluationPtr Session::evaluateForSearch(const QuantizationConfig& config, Depth depth,
                                         const CancelToken& cancel) try {
    const EvaluationObserver silent;
    return evaluateFor({*m_parts, config, silent, cancel, EvaluationPurpose::Search}, depth);
} catch (...) {
    m_parts->rethrowWithModel();
}

}  // namespace quantloupe
