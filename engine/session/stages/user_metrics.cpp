// SPDX-License-Identifier: Apache-2.0
#include "session/stages/user_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/process_group.h"
#include "session/session_parts.h"

namespace quantloupe {
namespace {

/// Returns the positions of the first `samples` samples in the order of work, in the order of the data.
std::vector<std::size_t> workInDataOrder(const std::vector<std::size_t>& order, std::size_t samples) {
    std::vector<std::size_t> work(samples);
    std::iota(work.begin(), work.end(), std::size_t{0});
    std::ranges::sort(work, {}, [&](std::size_t position) { return order[position]; });
    return work;
}

/// Returns the targets of the samples; null if there are none.
ConstantPtr targetsOf(const Dataset& data, const std::vector<std::size_t>& work) {
    SampleTensor all;
    for (const std::size_t position : work) {
        const std::optional<SampleTensor> own = data.targets(position);
        if (!own) return nullptr;
        all.type = own->type;
        all.dims = own->dims;
        all.bytes.insert(all.bytes.end(), own->bytes.begin(), own->bytes.end());
    }
    all.dims.insert(all.dims.begin(), static_cast<std::int64_t>(work.size()));
    return Constant::fromBytes(all.type, std::move(all.dims), std::move(all.bytes));
}

/// Returns a metric input with labels and samples.
MetricInput inputFor(const SessionSamples& samples, const std::vector<std::size_t>& work) {
    MetricInput input;
    const Dataset& data = *samples.evaluation();
    const bool labeled = data.hasLabels();
    std::vector<std::int64_t> labels;
    for (const std::size_t position : work) {
        input.samples.push_back(samples.order()[position]);
        if (labeled) labels.push_back(data.label(position).value_or(-1));
        if (const SampleAnnotation* annotation = data.annotation(position))
            labels.insert(labels.end(), annotation->tokens.begin(), annotation->tokens.end());
    }
    if (labels.empty()) {
        input.labels = targetsOf(data, work);
        return input;
    }
    Dims dims{static_cast<std::int64_t>(work.size())};
    if (labels.size() > work.size()) dims.push_back(static_cast<std::int64_t>(labels.size() / work.size()));
    input.labels = Constant::fromInt64s(std::move(dims), std::move(labels));
    return input;
}

MetricInput inputForAll(const SessionSamples& samples) {
    return inputFor(samples, workInDataOrder(samples.order(), samples.order().size()));
}

std::map<std::string, ConstantPtr> allOutputs(Session& session,
                                              const std::optional<QuantizationConfig>& config,
                                              const CancelToken& cancel) {
    std::map<std::string, ConstantPtr> named;
    const std::vector<ConstantPtr> arrays = session.outputs(config, cancel);
    const Graph& graph = session.graph();
    for (std::size_t o = 0; o < arrays.size(); ++o) named[graph.tensor(graph.outputs()[o]).name] = arrays[o];
    return named;
}

/// Runs the user's metric, in a group only in the first process.
double measureOnce(ProcessGroup* group, const UserMetric& metric, const MetricInput& input,
                   const CancelToken& cancel) {
    if (group == nullptr) return metric.measure(input, cancel);
    const std::string bytes = group->fromFirst("metric", [&] {
        const double value = metric.measure(input, cancel);
        return std::string(reinterpret_cast<const char*>(&value), sizeof value);
    });
    double value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

/// Returns whether the first dimension contains the samples, one block each.
bool samplesComeFirst(const TensorDesc& desc) {
    if (desc.dims.empty() || desc.samples.runs != 1) return false;
    return desc.samples.count == 1 ? desc.dims[0] == 1 : sampleDimension(desc) == 0;
}

/// Returns the stored outputs of the samples as arrays; empty if a graph output is missing or its shape for
/// several samples is unknown.
std::map<std::string, ConstantPtr> keptOutputs(const Graph& graph, const NetworkOutputs& outputs,
                                               const std::vector<std::size_t>& work) {
    std::map<std::string, ConstantPtr> named;
    if (!outputs.task || outputs.compared.size() != graph.outputs().size() ||
        !std::ranges::all_of(outputs.descs, samplesComeFirst))
        return named;
    std::size_t column = 0;
    for (std::size_t o = 0; o < outputs.compared.size(); ++o) {
        const std::size_t width = outputs.widths[o];
        std::vector<float> values(width * work.size());
        for (std::size_t s = 0; s < work.size(); ++s)
            std::memcpy(values.data() + s * width, outputs.row(work[s]) + column, width * sizeof(float));
        Dims dims = outputs.descs[o].dims;
        dims[0] = dims[0] / outputs.descs[o].samples.count * static_cast<std::int64_t>(work.size());
        named[graph.tensor(graph.outputs()[o]).name] = Constant::fromFloats(dims, std::move(values));
        column += width;
    }
    return named;
}

/// Computes the session's user-defined metric for the first `samples` samples in the order of work. `outputs`
/// belong to the configuration or, without one, to the float network.
double measuredMetric(SessionParts& parts, const NetworkOutputs& outputs,
                      const std::optional<QuantizationConfig>& config, std::size_t samples,
                      const CancelToken& cancel) {
    const std::vector<std::size_t>& order = parts.samples.order();
    const std::vector<std::size_t> work = workInDataOrder(order, samples);
    MetricInput input = inputFor(parts.samples, work);
    input.outputs = keptOutputs(*parts.model.graph, outputs, work);
    if (input.outputs.empty()) {
        input = inputForAll(parts.samples);
        input.outputs = allOutputs(parts.session, config, cancel);
    }
    const double value = measureOnce(parts.options.group.get(), *parts.metric.metric, input, cancel);
    if (!std::isfinite(value)) failInput("the metric returned {}: it must return a finite number", value);
    return value;
}

}  // namespace

std::optional<UserMetricValues> userMetricOf(const Evaluation& evaluation) {
    if (!evaluation.floating || !evaluation.quantized) return std::nullopt;
    const auto floating = evaluation.floating->userMetric, quantized = evaluation.quantized->userMetric;
    if (!floating || !quantized) return std::nullopt;
    return UserMetricValues{*floating, *quantized};
}

UserMetricValues measureUserMetric(Session& session, const QuantizationConfig& config,
                                   const UserMetric& metric, const CancelToken& cancel) {
    const SessionSamples& samples = partsOf(session).samples;
    samples.require();
    MetricInput input = inputForAll(samples);
    const auto valueOf = [&](const std::optional<QuantizationConfig>& network) {
        input.outputs = allOutputs(session, network, cancel);
        return measureOnce(session.group(), metric, input, cancel);
    };
    const double floating = valueOf(std::nullopt);
    return {floating, valueOf(config)};
}

std::optional<SessionMetricInput> metricInput(Session& session) {
    const SessionParts& parts = partsOf(session);
    if (!parts.metric.metric) return std::nullopt;
    parts.samples.require();
    return SessionMetricInput{*parts.metric.metric, inputForAll(parts.samples)};
}

void addUserMetric(SessionParts& parts, NetworkOutputs& floating, NetworkOutputs& quantized,
                   Evaluation& evaluation, const CancelToken& cancel) {
    if (!parts.metric.metric) return;
    const auto add = [&](NetworkOutputs& outputs, const std::optional<QuantizationConfig>& config,
                         Accuracy& accuracy) {
        const std::pair key(parts.metric.changes, accuracy.samples);
        if (!outputs.userMetrics.contains(key))
            outputs.userMetrics[key] = measuredMetric(parts, outputs, config, accuracy.samples, cancel);
        accuracy.userMetric = outputs.userMetrics[key];
        accuracy.lowerIsBetter = parts.metric.metric->lowerIsBetter;
    };
    add(floating, std::nullopt, *evaluation.floating);
    add(quantized, evaluation.config, *evaluation.quantized);
}

}  // namespace quantloupe
