// SPDX-License-Identifier: Apache-2.0
#include "session/session_samples.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/process_group.h"
#include "data/labeled_dataset.h"
#include "data/random_dataset.h"
#include "data/with_thousands.h"
#include "model/assumed_sizes.h"
#include "runtime/aligned.h"
#include "session/stages/judge_samples.h"
#include "session/stages/sample_mixing.h"

namespace quantloupe {
namespace {

/// Calibration reads its samples only once or twice, so only a few are kept decoded.
constexpr std::size_t kCalibrationSampleBytes = std::size_t{32} << 20;

/// Returns the rough samples, spread evenly over the data, followed by the others. These are in the order of
/// their reversed bits (van der Corput), so that the first ones of any number are spread evenly, too: data is
/// often sorted by class, and accuracies are displayed while the evaluation runs.
std::vector<std::size_t> workOrder(std::size_t size, std::size_t rough, std::size_t together) {
    std::vector<std::size_t> order = spreadEvenly(size, rough, together);
    std::vector<bool> taken(size, false);
    for (const std::size_t i : order) taken[i] = true;
    const auto add = [&](std::size_t group) {
        for (std::size_t i = group * together; i < std::min((group + 1) * together, size); ++i)
            if (!taken[i]) order.push_back(i);
    };
    const std::size_t groups = size / together;  // without an incomplete last one
    const auto bits = static_cast<int>(std::bit_width(groups));
    for (std::size_t r = 0; r < std::size_t{1} << bits; ++r) {
        std::size_t reversed = 0;
        for (int bit = 0; bit < bits; ++bit) reversed |= (r >> bit & 1) << (bits - 1 - bit);
        if (reversed < groups) add(reversed);
    }
    add(groups);
    return order;
}

void addLine(std::string& text, const std::string& line) {
    if (!line.empty()) text += (text.empty() ? "" : "\n") + line;
}

/// Advice for the case that the fixed first dimension contains something else, such as steps.
constexpr std::string_view kOtherDimension =
    "; if another dimension of the input contains the samples, name it 'batch' in the model";

/// Returns the data without an incomplete last batch of `together` samples. Throws Error if nothing is left.
/// `what` is "data" or "calibration data".
DatasetPtr wholeBatches(DatasetPtr data, std::size_t together, std::string_view what, std::string& notice) {
    const std::size_t size = data->size(), left = size % together;
    if (size < together)
        failInput("the network needs {} samples at a time, but the {} has only {}{}", together, what, size,
                  kOtherDimension);
    if (left == 0) return data;
    addLine(notice, fmt::format("{} of {} samples of the {} {} left out: the network needs {} at a time",
                                left, withThousands(size), what, left == 1 ? "is" : "are", together));
    return subset(data, spreadEvenly(size - left, size - left));
}

/// Ignores an array of labels for tokens if no output has scores for them, unless they were requested; then
/// labelNotice() says so.
DatasetPtr withoutOtherLabels(const DatasetPtr& data, const Graph& graph) {
    const auto labels = data->taskLabels();
    if (!labels || labels->task != Task::Tokens || labels->settings.task == Task::Tokens) return data;
    if (hasTokenScores(graph, data->annotation(0)->tokens.size())) return data;
    TaskSettings settings = labels->settings;
    settings.task = Task::Classification;
    return withTask(data, settings, {});
}

}  // namespace

CalibrationSamples::CalibrationSamples(DatasetPtr data, const Graph& source, std::size_t batch)
    : batches(std::move(data), source, batch, kCalibrationSampleBytes),
      version(VersionBuilder()
                  .add(batches.dataset().version())
                  .add(batches.samples())
                  .add(batches.batch())
                  .finish()) {}

SessionSamples::SessionSamples(GraphPtr source, const SessionOptions& options)
    : m_source(std::move(source)), m_options(options) {}

void SessionSamples::set(DatasetPtr evaluation, DatasetPtr calibration) {
    const std::size_t together = evaluation ? samplesTogether(evaluation) : 1;
    set(std::move(evaluation), std::move(calibration), together);
}

void SessionSamples::set(DatasetPtr evaluation, DatasetPtr calibration, std::size_t together) {
    // Nothing changes if the data cannot be used.
    std::string notice;
    if (evaluation) evaluation = withoutOtherLabels(evaluation, *m_source);
    const std::string ignored = evaluation ? evaluation->notice() : std::string();
    if (evaluation && !calibration) {
        if (evaluation->size() < 2)
            failInput(
                "the data has one sample, but at least two are needed: one for calibration and one for "
                "evaluation");
        if (evaluation->size() < 2 * together)
            failInput(
                "the network needs {} samples at a time, so at least {} are needed, one half for "
                "calibration and one half for evaluation; or choose calibration data{}",
                together, 2 * together, kOtherDimension);
        evaluation = wholeBatches(evaluation, together, "data", notice);
        std::tie(calibration, evaluation) = splitForCalibration(evaluation, together);
        addLine(notice, fmt::format("no calibration data: one half of the data ({} samples) is available for "
                                    "calibration, the other half ({}) is used for evaluation",
                                    withThousands(calibration->size()), withThousands(evaluation->size())));
    } else if (evaluation) {
        const bool same = calibration == evaluation;
        evaluation = wholeBatches(evaluation, together, "data", notice);
        calibration = same ? evaluation : wholeBatches(calibration, together, "calibration data", notice);
    }
    addLine(notice, ignored);
    const bool binary = evaluation && hasBinaryLabels(*evaluation);
    std::vector<std::size_t> order;
    std::size_t rough = m_rough;
    if (evaluation) {
        if (m_options.samples > 0 && m_options.samples < evaluation->size())
            evaluation = subset(evaluation, spreadEvenly(evaluation->size(), m_options.samples, together));
        const std::size_t requested = m_options.roughSamples > 0
                                          ? m_options.roughSamples
                                          : std::clamp<std::size_t>(evaluation->size() / 16, 16, 100);
        rough = std::min((requested + together - 1) / together * together, evaluation->size());
        order = workOrder(evaluation->size(), rough, together);
        evaluation = subset(evaluation, order);
    }
    m_notice = std::move(notice);
    m_random = false;
    m_binaryLabels = binary;
    m_batches.reset();
    m_single.reset();
    m_judge.reset();
    m_calibrationSamples.reset();
    m_batch = 0;
    m_together = together;
    m_part = {};
    m_mixingNotice.clear();
    m_partSought = false;
    m_rough = rough;
    m_order = std::move(order);
    m_calibration = evaluation ? std::move(calibration) : nullptr;
    m_evaluation = std::move(evaluation);
}

std::size_t SessionSamples::samplesTogether(const DatasetPtr& data) const try {
    const SampleBatches batches(data, *m_source, 1);
    if (batches.batch() == 1) return 1;
    return compileSource(batches)->mixesSamples() ? batches.batch() : 1;
} catch (const Error&) {
    return 1;  // the evaluation explains why this data or this network cannot be used
}

void SessionSamples::setRandom(std::size_t samples) {
    constexpr std::size_t kSamples = 32;
    constexpr std::uint64_t kEvaluationSeed = 1, kCalibrationSeed = 2;
    if (samples == 0) samples = m_options.samples > 0 ? m_options.samples : kSamples;
    const std::size_t together = samplesTogether(randomDataset(*m_source, 1, kEvaluationSeed));
    samples = roundUp(samples, together);
    set(randomDataset(*m_source, samples, kEvaluationSeed),
        randomDataset(*m_source, samples, kCalibrationSeed), together);
    m_random = true;
    m_notice = fmt::format(
        "no data was given: {} random inputs are used for calibration and {} for evaluation; SQNR, agreement "
        "and sensitivities are those of noise, not of real data{}",
        samples, samples, describeAssumedSizes(*m_source));
}

void SessionSamples::require() const {
    if (!m_evaluation) failInput("there is no evaluation data; choose a data folder first");
}

DatasetPtr SessionSamples::inDataOrder() const {
    std::vector<std::size_t> positions(m_order.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[m_order[i]] = i;
    return subset(m_evaluation, std::move(positions));
}

std::shared_ptr<const Program> SessionSamples::compileSource(const SampleBatches& batches,
                                                             std::shared_ptr<const Program> one) const {
    ProgramSpec spec = floatProgram(m_source, batches.inputsOf(*m_source),
                                    {m_source->outputs().begin(), m_source->outputs().end()});
    spec.partial = true;
    spec.one = std::move(one);
    return Program::compile(std::move(spec));
}

void SessionSamples::findPart() try {
    if (m_evaluation) return chooseBatch();
    if (std::exchange(m_partSought, true)) return;
    const SampleBatches one(randomDataset(*m_source, 1, 0), *m_source, 1);
    const auto program = compileSource(one);
    m_together = program->mixesSamples() ? one.batch() : 1;
    m_part = evaluatedPart(*m_source, *program, false);
} catch (const Error&) {
    // An evaluation explains why the network cannot run.
}

void SessionSamples::requireEvaluable() {
    require();
    chooseBatch();
    m_part.notice(*m_source);
}

void SessionSamples::chooseBatch() {
    if (m_batch != 0) return;
    constexpr std::size_t kNearMemory = std::size_t{4} << 20;  // about the size of one core's caches
    constexpr std::size_t kMost = 8;
    const auto accepts = [&](std::size_t batch) {
        try {
            compileSource(SampleBatches(m_evaluation, *m_source, batch));
            return true;
        } catch (const Error&) {
            return false;
        }
    };
    const SampleBatches single(m_evaluation, *m_source, 1);
    std::shared_ptr<const Program> program;
    try {
        program = compileSource(single);
    } catch (const OutOfMemory&) {
        throw;
    } catch (const Error& error) {
        // Constants can contain the batch size of the example that a network was exported with.
        constexpr std::array<std::size_t, 6> kUsual{2, 3, 4, 8, 16, 32};
        const auto batch = single.batch() > 1 ? kUsual.end() : std::ranges::find_if(kUsual, accepts);
        if (batch == kUsual.end()) throw;
        fail(error.kind(),
             "{}. The network accepts batches of {} samples, but not of one: export it with a dynamic batch "
             "size, or with {} as the fixed first dimension of its inputs",
             error.what(), *batch, *batch);
    }
    std::size_t chosen = single.batch();  // more than one if the model fixes it
    std::size_t preferred =
        std::clamp<std::size_t>(kNearMemory / std::max<std::size_t>(program->arenaBytes(), 1), 1, kMost);
    // Processors may differ in how much memory a program needs.
    if (m_options.group) preferred = m_options.group->least("batch size", preferred);
    const bool checks = assumesSampleAxis(*m_source) && m_evaluation->size() > 1;
    if (chosen == 1 && (preferred > 1 || checks)) {
        try {
            const SampleBatches batches(m_evaluation, *m_source, std::max<std::size_t>(preferred, 2));
            const auto several = compileSource(batches, program);
            if (several->mixesSamples()) {
                if (checks) m_mixingNotice = quantloupe::mixingNotice(program, single, several, batches);
            } else if (preferred > 1 && several->unavailable().size() == program->unavailable().size()) {
                program = several;
                chosen = preferred;
            }
        } catch (const OutOfMemory&) {
            throw;
        } catch (const Error&) {
            // The model is only valid for one sample, for example because a Reshape fixes the batch size to
            // 1.
        }
    }
    const auto labels = m_evaluation->taskLabels();
    m_part = evaluatedPart(*m_source, *program, labels && isGraded(labels->task));
    m_batch = chosen;
}

const SampleBatches& SessionSamples::batches() {
    if (!m_batches) {
        chooseBatch();
        auto batches = std::make_unique<SampleBatches>(m_evaluation, *m_source, m_batch);
        m_judge = TaskJudge::create(*m_evaluation, inputSizeOf(*batches, *m_source));
        m_version = VersionBuilder().add(m_evaluation->version()).add(batches->batch()).finish();
        m_batches = std::move(batches);
    }
    return *m_batches;
}

const Version& SessionSamples::version() {
    batches();
    return m_version;
}

const SampleBatches& SessionSamples::single() {
    if (!m_single) m_single = std::make_unique<SampleBatches>(m_evaluation, *m_source, 1);
    m_part.requireBatchOfOne(*m_source, m_single->batch());
    return *m_single;
}

TaskJudge* SessionSamples::judge() {
    batches();
    return m_judge.get();
}

const CalibrationSamples& SessionSamples::calibrationFor(const QuantizationConfig& config) {
    chooseBatch();
    const std::size_t size = m_calibration->size();
    const std::size_t count =
        std::min(size, static_cast<std::size_t>(std::max(config.calibration.samples, 1)));
    std::vector<std::size_t> indices = spreadEvenly(size, count, m_together);
    if (!m_calibrationSamples || m_calibrationSamples->batches.samples() != indices.size())
        m_calibrationSamples = std::make_unique<CalibrationSamples>(subset(m_calibration, std::move(indices)),
                                                                    *m_source, m_batch);
    return *m_calibrationSamples;
}

}  // namespace quantloupe
