// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/rethrow.h"
#include "config/config_fields.h"
#include "config/config_json.h"
#include "config/precision_rules.h"
#include "config/skip_rules.h"
#include "data/random_dataset.h"
#include "model/quantized_model.h"
#include "quantize/conversions.h"
#include "quantize/qdq_writer.h"
#include "session/caches/tensor_versions.h"
#include "session/session_impl.h"
#include "session/stages/judge_samples.h"
#include "session/stopwatch.h"
#include "session/studies/threshold_rules.h"
#include "transform/own_inputs.h"

namespace quantloupe {
namespace {

Version versionOf(const QuantizationConfig& config, const std::vector<bool>& skipped) {
    QuantizationConfig only = onlyFields(config, [](const Field& field) { return field.changesModel; });
    if (config.refine.migration > 0) only.calibration.samples = config.calibration.samples;
    VersionBuilder builder;
    builder.add(std::string_view(configToJson(only)));
    for (const bool one : skipped) builder.add(one);
    return builder.finish();
}

/// Returns the rough samples, spread evenly over the data, followed by the others.
std::vector<std::size_t> workOrder(std::size_t size, std::size_t rough) {
    std::vector<std::size_t> order = spreadEvenly(size, rough);
    std::vector<bool> taken(size, false);
    for (const std::size_t i : order) taken[i] = true;
    for (std::size_t i = 0; i < size; ++i)
        if (!taken[i]) order.push_back(i);
    return order;
}

}  // namespace

Session::Impl::Impl(Session& session, LoadedModel loaded, SessionOptions sessionOptions)
    : owner(session),
      model(std::move(loaded)),
      options(sessionOptions),
      workers(sessionOptions.threads),
      memoryBudget(sessionOptions.memory.value_or(defaultActivationBudget())),
      activations(memoryBudget) {
    limitOpenMpOfThisThread();
}

void Session::Impl::rethrowWithModel() const {
    rethrowWithContext(model.path.empty() ? "the model"
                                          : fmt::format("model '{}'", model.path.filename().string()));
}

void Session::Impl::requireData() const {
    if (!evaluationData) failInput("there is no evaluation data; choose a data folder first");
}

void Session::Impl::requireEvaluable() {
    requireData();
    chooseBatch();
    part.notice(*model.graph);
}

void Session::Impl::chooseBatch() {
    if (batch != 0) return;
    constexpr std::size_t kNearMemory = std::size_t{4} << 20;  // about the size of one core's caches
    constexpr std::size_t kMost = 8;
    const GraphPtr& graph = model.graph;
    const auto compile = [&](const SampleBatches& batches, std::shared_ptr<const Program> one) {
        ProgramSpec spec =
            floatProgram(graph, batches.inputsOf(*graph), {graph->outputs().begin(), graph->outputs().end()});
        spec.partial = true;
        spec.one = std::move(one);
        return Program::compile(std::move(spec));
    };
    const SampleBatches single(evaluationData, *graph, 1);
    std::shared_ptr<const Program> program = compile(single, nullptr);
    std::size_t chosen = single.batch();  // more than one if the model fixes it
    std::size_t preferred =
        std::clamp<std::size_t>(kNearMemory / std::max<std::size_t>(program->arenaBytes(), 1), 1, kMost);
    // Processors may differ in how much memory a program needs.
    if (options.group) preferred = options.group->least("batch size", preferred);
    if (chosen == 1 && preferred > 1) {
        try {
            const auto several = compile(SampleBatches(evaluationData, *graph, preferred), program);
            if (!several->mixesSamples() && several->unavailable().size() == program->unavailable().size()) {
                program = several;
                chosen = preferred;
            }
        } catch (const Error&) {
            // The model is only valid for one sample, for example because a Reshape fixes the batch size
            // to 1.
        }
    }
    part = evaluatedPart(*graph, *program);
    batch = chosen;
}

void Session::Impl::clear() {
    prepared.clear();
    ranges.clear();
    tensorRanges.clear();
    channelMaxima.clear();
    refinements.clear();
    quantizers.clear();
    outputs.clear();
    weightDifferences.clear();
    weightRangeRatios.clear();
    local.clear();
    cumulative.clear();
    kernels->clear();
    activations.clear();
    RecycledMemory::trim();
    shapes.clear();
    sourceShapes = {};
    effectModel.clear();
    measured = {};
    sweeps.clear();
    thresholdBases.clear();
}

void Session::Impl::openBatches() {
    chooseBatch();
    if (evaluationBatches) return;
    evaluationBatches = std::make_unique<SampleBatches>(evaluationData, *model.graph, batch);
    judge = TaskJudge::create(*evaluationData, inputSizeOf(*evaluationBatches, *model.graph));
    samplesVersion = VersionBuilder().add(evaluationData->version()).add(evaluationBatches->batch()).finish();
}

ResumeOptions Session::Impl::resumeOptions(const GraphPtr& graph) {
    if (shapes.find(graph->version()) == nullptr)
        shapes.store(graph->version(),
                     std::make_shared<const GraphShapes>(
                         shapesOf(graph, evaluationBatches->inputsOf(*graph), part.endsOf(*graph), kernels)));
    if (graph == model.graph && !sourceShapes.dims)
        sourceShapes = {(*shapes.find(graph->version()))->dims, evaluationBatches->batch()};
    return {options.group ? noActivations : activations, **shapes.find(graph->version()), samplesVersion};
}

ResumeOptions Session::Impl::sharedResumeOptions(const GraphPtr& graph) {
    const GraphShapes& known = resumeOptions(graph).shapes;
    return {activations, known, samplesVersion, true, nullptr, shardOf(options.group.get())};
}

const MeasuredShapes& Session::Impl::shapesOfOnes() {
    if (assumedShapes) return *assumedShapes;
    assumedShapes.emplace();
    std::map<TensorId, TensorDesc> inputs;
    for (const TensorId input : model.graph->inputs()) {
        const TensorInfo& tensor = model.graph->tensor(input);
        if (!tensor.shape) return *assumedShapes;
        Dims dims;
        for (const Dim& dim : *tensor.shape) dims.push_back(dim.known() ? dim.value : 1);
        inputs.emplace(input, TensorDesc{tensor.type, std::move(dims), Layout::Plain});
    }
    try {
        assumedShapes->dims =
            shapesOf(model.graph, inputs, {model.graph->outputs().begin(), model.graph->outputs().end()},
                     nullptr)
                .dims;
    } catch (const Error&) {
        // Not every network accepts an image of one pixel, and not every operator is supported.
    }
    return *assumedShapes;
}

std::shared_ptr<const Prepared> Session::Impl::prepare(const QuantizationConfig& config) {
    const bool bySkips = config.transforms.equalization.excludeSkipped || hasPrecisions(config);
    const RunControl control{workers, {}, {}};
    return prepareMeasured(bySkips ? withThresholdsMeasured(*this, config, control) : config, control);
}

std::shared_ptr<const Prepared> Session::Impl::prepareMeasured(const QuantizationConfig& config,
                                                               const RunControl& control) {
    std::vector<bool> skipped;
    if (config.transforms.equalization.excludeSkipped) {
        const SkipDecisions skips = resolveSkips(*model.graph, config);
        for (std::size_t i = 0; i < model.graph->nodeCount(); ++i)
            skipped.push_back(skips.skipped(NodeId(i)));
    }
    const Version version =
        VersionBuilder().add(versionOf(config, skipped)).add(part.unavailable.size()).finish();
    if (const auto* known = prepared.find(version)) return converted(*known, config);
    if (!constants) constants = foldMovedConstants(model.graph);
    Prepared made = quantloupe::prepare(model.graph, config.transforms, skipped, &*constants);
    made.operators = config.quantization.operators;
    made.symmetricActivations = config.quantization.activation.symmetric;
    if (config.refine.migration > 0) made = migrate(std::move(made), config, control);
    if (config.quantization.placement == Placement::WeightedInputs) made = withOwnInputs(std::move(made));
    if (!part.whole())
        for (const NodeId source : made.sourceOf) {
            const auto found = part.unavailable.find(source);
            made.unevaluated.push_back(found == part.unavailable.end() ? std::string() : found->second);
        }
    return converted(prepared.store(version, std::make_shared<const Prepared>(std::move(made))), config);
}

std::shared_ptr<const Prepared> Session::Impl::converted(std::shared_ptr<const Prepared> made,
                                                         const QuantizationConfig& config) {
    if (!hasPrecisions(config) || quantizationOperators(*model.graph) > 0) return made;
    const QuantizationConfig resolved = withPrecisionsResolved(*model.graph, config);
    const UnitList units = findUnits(*made, resolveSkips(*model.graph, config));
    Prepared changed = withConversions(*made, units, resolved);
    if (changed.version == made->version) return made;
    if (const auto* known = prepared.find(changed.version)) return *known;
    return prepared.store(changed.version, std::make_shared<const Prepared>(std::move(changed)));
}

std::shared_ptr<const Plan> Session::Impl::plan(const QuantizationConfig& config, const RunControl& control) {
    const QuantizationConfig resolved = withThresholdsMeasured(*this, config, control);
    const auto graph = prepareMeasured(resolved, control);
    UnitList units = findUnits(*graph, resolveSkips(*model.graph, resolved));
    const QuantizationConfig layers = withPrecisionsResolved(*model.graph, resolved);
    const Statistics& known = statistics(*graph, units, layers, control);
    auto plan = std::make_shared<Plan>(resolve(graph, units, known, layers, control, false));
    plan->arithmetic = arithmeticFor(config);
    return plan;
}

Session::Session(LoadedModel model, SessionOptions options)
    : m_impl(std::make_unique<Impl>(*this, std::move(model), options)) {}

Session::~Session() = default;

const Graph& Session::graph() const { return *m_impl->model.graph; }
const LoadedModel& Session::model() const { return m_impl->model; }
ProcessGroup* Session::group() const { return m_impl->options.group.get(); }
bool Session::hasData() const { return m_impl->evaluationData != nullptr; }
bool Session::randomInputs() const { return m_impl->randomInputs; }
const std::string& Session::dataNotice() const { return m_impl->dataNotice; }
void Session::clearCache() { m_impl->clear(); }
std::size_t Session::cacheBytes() const { return m_impl->cacheBytes(); }
std::size_t Session::cacheBudget() const { return m_impl->memoryBudget; }
std::size_t Session::activationBytes() const { return m_impl->activations.bytes(); }
std::size_t Session::activationBudget() const { return m_impl->activations.budget(); }

void Session::setData(DatasetPtr evaluation, DatasetPtr calibration) {
    // Nothing changes if the data cannot be used.
    std::string notice;
    if (evaluation && !calibration) {
        if (evaluation->size() < 2)
            failInput(
                "the data has one sample, but at least two are needed: one for calibration and one for "
                "evaluation");
        std::tie(calibration, evaluation) = splitForCalibration(evaluation);
        notice = fmt::format(
            "no calibration data: half of the data ({} samples) is used for calibration, the other half ({}) "
            "for evaluation",
            calibration->size(), evaluation->size());
    }
    std::vector<std::size_t> order;
    std::size_t rough = m_impl->roughSamples;
    if (evaluation) {
        if (m_impl->options.samples > 0 && m_impl->options.samples < evaluation->size())
            evaluation = subset(evaluation, spreadEvenly(evaluation->size(), m_impl->options.samples));
        const std::size_t requested = m_impl->options.roughSamples > 0
                                          ? m_impl->options.roughSamples
                                          : std::clamp<std::size_t>(evaluation->size() / 16, 16, 100);
        rough = std::min(requested, evaluation->size());
        order = workOrder(evaluation->size(), rough);
        evaluation = subset(evaluation, order);
    }
    m_impl->clear();
    m_impl->dataNotice = std::move(notice);
    m_impl->randomInputs = false;
    m_impl->evaluationBatches.reset();
    m_impl->singleSamples.reset();
    m_impl->judge.reset();
    m_impl->calibrationBatches.reset();
    m_impl->batch = 0;
    m_impl->part = {};
    m_impl->roughSamples = rough;
    m_impl->order = std::move(order);
    m_impl->calibrationData = evaluation ? std::move(calibration) : nullptr;
    m_impl->evaluationData = std::move(evaluation);
}

void Session::setMetric(std::optional<UserMetric> metric) {
    m_impl->metric = std::move(metric);
    ++m_impl->metricChanges;
    m_impl->effectModel.clear();
    m_impl->measured = {};
    m_impl->sweeps.clear();
    m_impl->thresholdBases.clear();
}

void Session::useRandomInputs(std::size_t samples) try {
    constexpr std::size_t kSamples = 32;
    constexpr std::uint64_t kEvaluationSeed = 1, kCalibrationSeed = 2;
    if (samples == 0) samples = m_impl->options.samples > 0 ? m_impl->options.samples : kSamples;
    setData(randomDataset(*m_impl->model.graph, samples, kEvaluationSeed),
            randomDataset(*m_impl->model.graph, samples, kCalibrationSeed));
    m_impl->randomInputs = true;
    m_impl->dataNotice = fmt::format(
        "no data was given: {} random inputs are used for calibration and {} for evaluation; SQNR, agreement "
        "and sensitivities are those of noise, not of real data",
        samples, samples);
} catch (...) {
    m_impl->rethrowWithModel();
}

std::shared_ptr<const Prepared> Session::prepare(const QuantizationConfig& config) try {
    return m_impl->prepare(config);
} catch (...) {
    m_impl->rethrowWithModel();
}

std::shared_ptr<const Plan> Session::plan(const QuantizationConfig& config, const CancelToken& cancel) try {
    m_impl->requireData();
    if (m_impl->randomInputs)
        failInput(
            "a quantized model needs ranges from real data, not from random inputs: open calibration data "
            "first");
    m_impl->requireEvaluable();
    if (quantizationOperators(*m_impl->model.graph) > 0)
        failInput(
            "the model is already quantized and cannot be quantized again; open the original float model");
    m_impl->chooseBatch();
    const RunControl control{m_impl->workers, cancel, {}};
    return m_impl->plan(config, control);
} catch (...) {
    m_impl->rethrowWithModel();
}

GraphPtr Session::quantizedModel(const QuantizationConfig& config, const CancelToken& cancel) try {
    return writeQdq(*plan(config, cancel), configToJson(config), config.exports);
} catch (...) {
    m_impl->rethrowWithModel();
}

}  // namespace quantloupe
