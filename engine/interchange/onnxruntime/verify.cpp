// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/verify.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/class_output.h"
#include "analysis/task_metrics.h"
#include "base/error.h"
#include "interchange/onnxruntime/run_onnxruntime.h"
#include "model/load_model.h"
#include "session/evaluation_data.h"
#include "session/stages/user_metrics.h"

namespace quantloupe {
namespace {

/// The predicted classes of `samples` samples. `threshold`: see judge().
std::vector<int> classesOf(const Constant& values, std::size_t samples, float threshold) {
    const auto all = values.floats();
    const std::size_t width = all.size() / samples;
    std::vector<int> classes;
    for (std::size_t s = 0; s < samples; ++s)
        classes.push_back(judge(all.data() + s * width, width, std::nullopt, threshold).predicted);
    return classes;
}

double agreementOf(const std::vector<int>& a, const std::vector<int>& b) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
    return static_cast<double>(same) / static_cast<double>(a.size());
}

/// Infinite if only one of two values is not a number.
double largestDifference(const Constant& a, const Constant& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.floats().size(); ++i) {
        const float x = a.floats()[i], y = b.floats()[i];
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        const double difference = std::abs(static_cast<double>(x) - static_cast<double>(y));
        largest =
            std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(largest, difference);
    }
    return largest;
}

/// Euclidean distance; infinite if a value is not a number.
double distanceOf(const Constant& a, const Constant& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.floats().size(); ++i) {
        const double difference = static_cast<double>(a.floats()[i]) - static_cast<double>(b.floats()[i]);
        squares += difference * difference;
    }
    return std::isnan(squares) ? std::numeric_limits<double>::infinity() : std::sqrt(squares);
}

double normOf(const Constant& values) {
    double squares = 0;
    for (const float value : values.floats())
        squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares);
}

void addError(const VerifiedOutput& output, const Constant& values, DifferenceSums& error) {
    if (output.floating)
        error.add(output.floating->floats().data(), values.floats().data(), values.floats().size());
}

bool comparable(const Constant& ours, const Constant& theirs) {
    return theirs.type() == DataType::Float32 && theirs.dims() == ours.dims();
}

TaskValue top1Of(const std::vector<int>& classes, const Dataset& data) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) right += classes[i] == data.label(i);
    return {TaskMetric::Top1, static_cast<double>(right) / static_cast<double>(classes.size())};
}

/// Sets the rates of a task other than classification, all or none.
void grade(const OutputGrader& grader, const VerifySource& source, const RuntimeOutputs& theirs,
           Verification& result, const CancelToken& cancel) {
    if (!result.notCompared.empty()) {
        result.whyNoRate =
            fmt::format("'{}' has another shape than in the preview", result.notCompared.front());
        return;
    }
    std::map<std::string, ConstantPtr> ours;
    for (const VerifiedOutput& output : source.outputs) ours[output.name] = output.ours;
    const auto gradeOf = [&](const std::vector<ConstantPtr>& values) -> Grade {
        std::map<std::string, ConstantPtr> named;
        for (std::size_t o = 0; o < values.size(); ++o) {
            if (!comparable(*source.outputs[o].ours, *values[o])) return {};
            named[source.outputs[o].name] = values[o];
        }
        return grader.grade(named, cancel);
    };
    const Grade here = grader.grade(ours, cancel);
    const Grade there = here.rate ? gradeOf(theirs.values) : Grade{};
    if (!here.rate || !there.rate) {
        result.whyNoRate = here.rate ? there.whyNot : here.whyNot;
        return;
    }
    result.here = here.rate;
    result.plain.rate = there.rate;
    if (result.optimized) result.optimized->rate = gradeOf(theirs.optimized).rate;
    if (result.exact) result.exact->rate = gradeOf(theirs.exact).rate;
}

std::optional<VerifiedMetric> verifiedMetric(Session& session, const std::vector<ConstantPtr>& outputs,
                                             const CancelToken& cancel) {
    std::optional<SessionMetricInput> own = metricInput(session);
    if (!own) return std::nullopt;
    VerifiedMetric verified{std::move(own->metric), std::move(own->input), 0, {}};
    const Graph& graph = session.graph();
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const auto& tensor = graph.tensor(graph.outputs()[o]);
        if (!outputs[o]) continue;
        verified.preview.outputs[tensor.name] = outputs[o];
        if (!tensor.graphInput) verified.outputs[o] = tensor.name;
    }
    verified.here = verified.metric.measure(verified.preview, cancel);
    return verified;
}

/// The values of a run belong to `positions`.
const ConstantPtr& valueAt(std::size_t position, const std::vector<ConstantPtr>& values,
                           const std::map<std::size_t, Dims>& positions) {
    const auto found = positions.find(position);
    return values.at(static_cast<std::size_t>(std::distance(positions.begin(), found)));
}

/// Computes the user's metric of each run.
void measure(const VerifiedMetric& own, const std::map<std::size_t, Dims>& positions,
             const RuntimeOutputs& theirs, Verification& result, const CancelToken& cancel) {
    const auto metricOf = [&](const std::vector<ConstantPtr>& values) {
        MetricInput input = own.preview;
        for (const auto& [position, name] : own.outputs)
            input.outputs[name] = valueAt(position, values, positions);
        return own.metric.measure(input, cancel);
    };
    result.metric = own.here;
    result.plain.metric = metricOf(theirs.values);
    if (result.optimized) result.optimized->metric = metricOf(theirs.optimized);
    if (result.exact) result.exact->metric = metricOf(theirs.exact);
}

/// Returns the outputs at `positions` reduced to those that are compared.
RuntimeOutputs compared(const RuntimeOutputs& all, const std::map<std::size_t, Dims>& positions,
                        const std::vector<VerifiedOutput>& outputs) {
    RuntimeOutputs kept = all;
    for (auto* values : {&kept.values, &kept.optimized, &kept.exact}) {
        if (values->empty()) continue;
        const std::vector<ConstantPtr> found = std::exchange(*values, {});
        for (const VerifiedOutput& output : outputs)
            values->push_back(valueAt(output.position, found, positions));
    }
    return kept;
}

}  // namespace

VerifySource prepareVerification(Session& session, const QuantizationConfig& config,
                                 const std::filesystem::path& model, const CancelToken& cancel) {
    // Rounding in float32; matters only if hardly anything is quantized.
    constexpr double kRounding = 1e-3;
    const std::vector<ConstantPtr> ours = session.outputs(config, cancel);
    const std::vector<ConstantPtr> floating = session.outputs(std::nullopt, cancel);
    VerifySource source{model,
                        {},
                        std::make_shared<SampleBatches>(evaluationData(session), session.graph(), 1, 0),
                        nullptr,
                        hasBinaryLabels(session)};
    const auto names = session.graph().outputs();
    for (std::size_t o = 0; o < ours.size(); ++o) {
        if (session.graph().tensor(names[o]).graphInput) continue;
        if (!ours[o] || ours[o]->type() != DataType::Float32 || ours[o]->size() == 0) continue;
        double allowed = kRounding * normOf(*ours[o]);
        const bool sameShape = floating[o] && floating[o]->dims() == ours[o]->dims();
        if (sameShape) allowed = std::max(allowed, distanceOf(*ours[o], *floating[o]));
        source.outputs.push_back(
            {o, session.graph().tensor(names[o]).name, ours[o], allowed, sameShape ? floating[o] : nullptr,
             binaryThreshold(session.graph(), names[o]),
             scoreCount(session.graph(), names[o], ours[o]->dims(), source.samples->dataset().size())});
    }
    if (source.outputs.empty())
        fail(ErrorKind::Unsupported,
             "verification compares the outputs that are float32 and have a batch dimension, and this model "
             "has none");
    source.grader = OutputGrader::create(source.samples, session.graph());
    source.metric = verifiedMetric(session, ours, cancel);
    saveModel(*session.quantizedModel(config, cancel), model);
    return source;
}

Verification verify(const VerifySource& source, const std::filesystem::path& python,
                    const CancelToken& cancel) {
    const Dataset& data = source.samples->dataset();
    std::map<std::size_t, Dims> shapes;
    for (const VerifiedOutput& output : source.outputs) shapes[output.position] = output.ours->dims();
    if (source.metric)
        for (const auto& [position, name] : source.metric->outputs)
            shapes[position] = source.metric->preview.outputs.at(name)->dims();
    const RuntimeOutputs all = runOnnxRuntime(source.model, *source.samples, shapes, cancel, python);
    const RuntimeOutputs theirs = compared(all, shapes, source.outputs);
    Verification result;
    result.runtime = theirs.runtime;
    result.samples = data.size();
    result.optimizedFailure = theirs.optimizedFailure;
    result.exactFailure = theirs.exactFailure;
    const bool labeled = mayHaveClasses(data) && data.hasLabels();
    std::vector<OutputVector> vectors;
    for (const VerifiedOutput& output : source.outputs) vectors.push_back({output.name, output.scores});
    const auto scores = mayHaveClasses(data)
                            ? classOutput(vectors, chosenClassOutput(data), source.binaryLabels)
                            : std::nullopt;
    result.classifies = false;
    for (std::size_t o = 0; o < source.outputs.size(); ++o) {
        const VerifiedOutput& output = source.outputs[o];
        if (!comparable(*output.ours, *theirs.values[o])) {
            result.notCompared.push_back(output.name);
            continue;
        }
        if (distanceOf(*output.ours, *theirs.values[o]) > output.allowed)
            result.differing.push_back(fmt::format("'{}' by up to {:.3g}", output.name,
                                                   largestDifference(*output.ours, *theirs.values[o])));
        const bool judged = o == scores;
        const auto add = [&](RuntimeComparison& comparison, const Constant& values) {
            comparison.maxAbsDiff = std::max(comparison.maxAbsDiff, largestDifference(*output.ours, values));
            addError(output, values, comparison.error);
            if (!judged) return;
            const std::vector<int> classes = classesOf(values, result.samples, output.threshold);
            comparison.agreement =
                agreementOf(classesOf(*output.ours, result.samples, output.threshold), classes);
            if (labeled) comparison.rate = top1Of(classes, data);
        };
        addError(output, *output.ours, result.error);
        add(result.plain, *theirs.values[o]);
        const auto addIfThere = [&](std::optional<RuntimeComparison>& comparison,
                                    const std::vector<ConstantPtr>& values) {
            if (o >= values.size() || !comparable(*output.ours, *values[o])) return;
            if (!comparison) comparison.emplace();
            add(*comparison, *values[o]);
        };
        addIfThere(result.optimized, theirs.optimized);
        addIfThere(result.exact, theirs.exact);
        if (!judged) continue;
        result.classifies = true;
        if (labeled) result.here = top1Of(classesOf(*output.ours, result.samples, output.threshold), data);
    }
    if (result.notCompared.size() == source.outputs.size())
        failInput("{} returns outputs of a different shape than the preview: '{}'", theirs.runtime,
                  fmt::join(result.notCompared, "', '"));
    if (source.grader) grade(*source.grader, source, theirs, result, cancel);
    if (source.metric) measure(*source.metric, shapes, all, result, cancel);
    return result;
}

std::string whyVerificationFailed(const Verification& r) {
    const double one = 1.0 / static_cast<double>(std::max<std::size_t>(r.samples, 1)), rounding = 1e-9;
    const double lost = r.here && r.plain.rate ? std::abs(r.here->value - r.plain.rate->value) : 0;
    if (lost > std::max(0.005, one) + rounding)
        return fmt::format("the accuracies differ by {:.2f} points", 100 * lost);
    if (!r.differing.empty())
        return fmt::format(
            "the outputs are further from the preview than the preview is from the float network: {}",
            fmt::join(r.differing, ", "));
    const double different = 1 - r.plain.agreement;
    if (r.classifies && different > 0.01 + rounding && different > one + rounding)
        return fmt::format("{:.2f} % of the samples get a different class", 100 * different);
    if (!r.optimizedFailure.empty())
        return fmt::format("{} cannot run the model at its default optimization level: {}", r.runtime,
                           r.optimizedFailure);
    return {};
}

namespace {

/// Whether the outputs have at least twice the preview's squared error.
bool muchWorse(const Verification& r, const RuntimeComparison& found) {
    constexpr double kMuchWorse = 3;  // dB
    const double preview = r.error.result().sqnrDb;
    return std::isfinite(preview) && found.error.result().sqnrDb < preview - kMuchWorse;
}

std::string saturationAdvice(const Verification& r) {
    if (!r.exactFailure.empty())
        return muchWorse(r, *r.optimized)
                   ? fmt::format(
                         "ONNX Runtime's 8-bit kernels probably saturate on this processor: use 7-bit "
                         "weights (the session option session.x64quantprecision cannot be used: {})",
                         r.exactFailure)
                   : std::string();
    if (!r.exact || !(r.exact->maxAbsDiff < r.optimized->maxAbsDiff / 2)) return {};  // also NaN; 0 and 0
    return "ONNX Runtime's 8-bit kernels saturate on this processor: use 7-bit weights, or set the session "
           "option session.x64quantprecision to 1";
}

}  // namespace

std::string optimizationAdvice(const Verification& r) {
    if (!r.optimized) return {};
    std::string saturation = saturationAdvice(r);
    const RuntimeComparison& rest = r.exact ? *r.exact : *r.optimized;
    if (!r.exactFailure.empty() || !muchWorse(r, rest)) return saturation;
    return fmt::format(
        "{}ONNX Runtime's default optimizations change the results beyond rounding: the SQNR is {:.1f} "
        "instead of {:.1f} dB; the sums of products, or biases without 32 bits, may not fit int32",
        saturation.empty() ? "" : saturation + "; ", rest.error.result().sqnrDb, r.error.result().sqnrDb);
}

}  // namespace quantloupe
