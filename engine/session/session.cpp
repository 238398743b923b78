// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/rethrow.h"
#include "config/config_json.h"
#include "config/skip_rules.h"
#include "data/random_dataset.h"
#include "model/quantized_model.h"
#include "quantize/qdq_writer.h"
#include "session/session_impl.h"
#include "session/stopwatch.h"
#include "session/tensor_versions.h"
#include "session/threshold_rules.h"
#include "transform/own_inputs.h"

namespace quantloupe {
namespace {

Version versionOf(const QuantizationConfig& config, const std::vector<bool>& skipped) {
    QuantizationConfig only;
    only.transforms = config.transforms;
    only.quantization.placement = config.quantization.placement;
    only.quantization.operators = config.quantization.operators;
    only.quantization.activation.symmetric = config.quantization.activation.symmetric;
    only.refine.migration = config.refine.migration;
    if (config.refine.migration > 0) only.calibration.samples = config.calibration.samples;
    VersionBuilder builder;
    builder.add(std::string_view(configToJson(only)));
    for (const bool one : skipped) builder.add(one);
    return builder.finish();
}

/// The samples of the first, rough number come first, spread over the whole order; then the others.
std::vector<std::size_t> workOrder(std::size_t size, std::size_t rough) {
    std::vector<std::size_t> order = spreadEvenly(size, rough);
    std::vector<bool> taken(size, false);
    for (const std::size_t i : order) taken[i] = true;
    for (std::size_t i = 0; i < size; ++i)
        if (!taken[i]) order.push_back(i);
    return order;
}

}  // namespace

Session::Impl::Impl(Session& session, LoadedModel loaded, SessionOptions wanted)
    : owner(session),
      model(std::move(loaded)),
      options(wanted),
      workers(wanted.threads),
      activations(wanted.memory.value_or(defaultActivationBudget())) {
    limitOpenMpOfThisThread();
}

void Session::Impl::rethrowWithModel() const {
    rethrowWithContext(model.path.empty() ? "the model" : fmt::format("model '{}'", model.path.filename().string()));
}

void Session::Impl::requireData() const {
    if (!evaluationData) failInput("there is no data to evaluate on; choose a data folder first");
}

void Session::Impl::requireOperators() const {
    const std::vector<std::string> unknown = unknownOperators(*model.graph);
    if (unknown.empty()) return;
    fail(ErrorKind::Unsupported,
         "the network cannot be evaluated: {} {} not supported: {}",
         unknown.size() == 1 ? "an operator" : "some operators", unknown.size() == 1 ? "is" : "are",
         fmt::join(unknown, ", "));
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
    effects.clear();
    measured = {};
    sweeps.clear();
    thresholdBases.clear();
}

void Session::Impl::openBatches() {
    if (batch == 0) batch = suitableBatch(model.graph, evaluationData);
    if (evaluationBatches) return;
    evaluationBatches = std::make_unique<SampleBatches>(evaluationData, *model.graph, batch);
    samplesVersion = VersionBuilder().add(evaluationData->version()).add(evaluationBatches->batch()).finish();
}

ResumeOptions Session::Impl::resumeOptions(const GraphPtr& graph) {
    if (shapes.find(graph->version()) == nullptr)
        shapes.store(graph->version(), std::make_shared<const GraphShapes>(
                                           shapesOf(graph, evaluationBatches->inputsOf(*graph), kernels)));
    return {activations, **shapes.find(graph->version()), samplesVersion, true};
}

std::shared_ptr<const Prepared> Session::Impl::prepare(const QuantizationConfig& config) {
    const bool bySkips = config.transforms.equalization.excludeSkipped;
    const RunControl control{workers, {}, {}};
    return prepareMeasured(bySkips ? withThresholdsMeasured(*this, config, control) : config, control);
}

std::shared_ptr<const Prepared> Session::Impl::prepareMeasured(const QuantizationConfig& wanted, const RunControl& control) {
    std::vector<bool> skipped;
    if (wanted.transforms.equalization.excludeSkipped) {
        const SkipDecisions skips = resolveSkips(*model.graph, wanted);
        for (std::size_t i = 0; i < model.graph->nodeCount(); ++i) skipped.push_back(skips.skipped(NodeId(i)));
    }
    const Version version = versionOf(wanted, skipped);
    if (const auto* known = prepared.find(version)) return *known;
    Prepared made = quantloupe::prepare(model.graph, wanted.transforms, skipped);
    made.operators = wanted.quantization.operators;
    made.symmetricActivations = wanted.quantization.activation.symmetric;
    if (wanted.refine.migration > 0) made = migrate(std::move(made), wanted, control);
    if (wanted.quantization.placement == Placement::WeightedInputs) made = withOwnInputs(std::move(made));
    return prepared.store(version, std::make_shared<const Prepared>(std::move(made)));
}

std::shared_ptr<const Plan> Session::Impl::plan(const QuantizationConfig& config, const RunControl& control) {
    const QuantizationConfig wanted = withThresholdsMeasured(*this, config, control);
    const auto graph = prepareMeasured(wanted, control);
    UnitList units = findUnits(*graph, resolveSkips(*model.graph, wanted));
    const Statistics& known = statistics(*graph, units, config, control);
    auto plan = std::make_shared<Plan>(resolve(graph, units, known, config, control, false));
    plan->arithmetic = arithmeticFor(config);
    return plan;
}

Session::Session(LoadedModel model, SessionOptions options)
    : m_impl(std::make_unique<Impl>(*this, std::move(model), options)) {}

Session::~Session() = default;

const Graph& Session::graph() const { return *m_impl->model.graph; }
const LoadedModel& Session::model() const { return m_impl->model; }
bool Session::hasData() const { return m_impl->evaluationData != nullptr; }
bool Session::randomInputs() const { return m_impl->randomInputs; }
const std::string& Session::dataNotice() const { return m_impl->dataNotice; }
void Session::clearCache() { m_impl->clear(); }
std::size_t Session::activationBytes() const { return m_impl->activations.bytes(); }
std::size_t Session::activationBudget() const { return m_impl->activations.budget(); }

void Session::setData(DatasetPtr evaluation, DatasetPtr calibration) {
    m_impl->clear();
    m_impl->dataNotice.clear();
    m_impl->randomInputs = false;
    m_impl->evaluationBatches.reset();
    m_impl->calibrationBatches.reset();
    m_impl->batch = 0;
    if (!evaluation) {
        m_impl->evaluationData = m_impl->calibrationData = nullptr;
        return;
    }
    if (!calibration) {
        if (evaluation->size() < 2)
            failInput("the data has one sample; at least two are needed, one to calibrate and one to evaluate");
        std::tie(calibration, evaluation) = splitForCalibration(evaluation);
        m_impl->dataNotice = fmt::format(
            "no calibration data was given: half of the data ({} samples) calibrates, the other half ({}) evaluates",
            calibration->size(), evaluation->size());
    }
    if (m_impl->options.samples > 0 && m_impl->options.samples < evaluation->size())
        evaluation = subset(evaluation, spreadEvenly(evaluation->size(), m_impl->options.samples));
    const std::size_t wanted = m_impl->options.roughSamples > 0 ? m_impl->options.roughSamples
                                                                : std::clamp<std::size_t>(evaluation->size() / 16, 16, 100);
    const std::size_t rough = std::min(wanted, evaluation->size());
    m_impl->roughSamples = rough;
    m_impl->order = workOrder(evaluation->size(), rough);
    m_impl->evaluationData = subset(evaluation, m_impl->order);
    m_impl->calibrationData = calibration;
}

void Session::useRandomInputs(std::size_t samples) try {
    constexpr std::size_t kSamples = 32;
    constexpr std::uint64_t kEvaluationSeed = 1, kCalibrationSeed = 2;
    if (samples == 0) samples = m_impl->options.samples > 0 ? m_impl->options.samples : kSamples;
    setData(randomDataset(*m_impl->model.graph, samples, kEvaluationSeed),
            randomDataset(*m_impl->model.graph, samples, kCalibrationSeed));
    m_impl->randomInputs = true;
    m_impl->dataNotice = fmt::format(
        "no data was given: {} random inputs calibrate and {} evaluate; SQNR, agreement and sensitivities are of noise, "
        "not of real data",
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
        failInput("a quantized model needs ranges of real data, not of random inputs: open calibration data first");
    m_impl->requireOperators();
    if (quantizationOperators(*m_impl->model.graph) > 0)
        failInput("the model is quantized already and is not quantized again; open the float model that it was made from");
    if (m_impl->batch == 0) m_impl->batch = suitableBatch(m_impl->model.graph, m_impl->evaluationData);
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
