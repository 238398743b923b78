// SPDX-License-Identifier: Apache-2.0
#pragma once
// The metric that is used to compare configurations.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "results/evaluation.h"

namespace quantloupe {

enum class TaskMetric : std::uint8_t { User, Map, Miou, TokenAccuracy, Top1, Agreement, Sqnr };

struct TaskMetricTraits {
    TaskMetric metric;
    const char* name;   ///< in files
    const char* title;  ///< in texts
    bool rate;          ///< 0 to 1, shown in percent and its changes in points
    std::optional<double> Accuracy::*value;
};
/// The first metric that an accuracy has is used. Without labels, that is the agreement, or the SQNR if the
/// outputs are not classes.
inline constexpr TaskMetricTraits kTaskMetrics[] = {
    {TaskMetric::User, "metric", "metric", false, &Accuracy::userMetric},
    {TaskMetric::Map, "map", "mAP", true, &Accuracy::map},
    {TaskMetric::Miou, "miou", "mIoU", true, &Accuracy::miou},
    {TaskMetric::TokenAccuracy, "token_accuracy", "token accuracy", true, &Accuracy::tokenAccuracy},
    {TaskMetric::Top1, "top1", "top-1", true, &Accuracy::top1},
    {TaskMetric::Agreement, "agreement", "agreement", true, &Accuracy::agreement},
    {TaskMetric::Sqnr, "sqnr_db", "SQNR", false, &Accuracy::sqnrDb},
};
inline const TaskMetricTraits& traitsOf(TaskMetric metric) {
    return *std::ranges::find(kTaskMetrics, metric, &TaskMetricTraits::metric);
}

struct TaskValue {
    TaskMetric metric;
    double value;

    const char* name() const { return traitsOf(metric).name; }
    const char* title() const { return traitsOf(metric).title; }
    /// The rate of the float network is 1 by definition.
    bool relative() const { return metric == TaskMetric::Agreement; }
};

inline bool hasTaskMetric(const Accuracy& accuracy) {
    return std::ranges::any_of(kTaskMetrics, [&](const auto& m) { return (accuracy.*m.value).has_value(); });
}
/// Returns an SQNR of 0 if there is no metric.
inline TaskValue taskMetric(const Accuracy& accuracy) {
    for (const TaskMetricTraits& traits : kTaskMetrics)
        if (const auto value = accuracy.*traits.value) return {traits.metric, *value};
    return {TaskMetric::Sqnr, 0};
}
/// Returns 0 without this metric.
inline double valueOf(const Accuracy& accuracy, TaskMetric metric) {
    return (accuracy.*traitsOf(metric).value).value_or(0.0);
}
/// Returns by how much the metric is better after a change.
inline double metricGain(const Accuracy& before, const Accuracy& after, TaskMetric metric) {
    const double from = valueOf(before, metric), to = valueOf(after, metric);
    if (from == to) return 0;  // also if both are infinite
    return metric == TaskMetric::User && after.lowerIsBetter ? from - to : to - from;
}

/// Returns the first rate, even if there is a user-defined metric. Empty if the outputs can only be compared
/// by their SQNR.
inline std::optional<TaskValue> taskRate(const Accuracy& accuracy) {
    for (const TaskMetricTraits& traits : kTaskMetrics)
        if (traits.rate && accuracy.*traits.value) return TaskValue{traits.metric, *(accuracy.*traits.value)};
    return std::nullopt;
}
/// With fewer samples, even full agreement has a 95 % interval wider than 16 points.
inline constexpr std::size_t kFewSamples = 20;
/// taskRate(), but empty for the agreement of few samples, which says nothing: the SQNR is used instead.
inline std::optional<TaskValue> meaningfulRate(const Accuracy& accuracy) {
    const auto rate = taskRate(accuracy);
    return rate && rate->relative() && accuracy.samples < kFewSamples ? std::nullopt : rate;
}
/// The same for the quantized network; also empty for its agreement on random inputs.
inline std::optional<TaskValue> meaningfulRate(const Evaluation& evaluation) {
    if (!evaluation.quantized) return std::nullopt;
    const auto rate = meaningfulRate(*evaluation.quantized);
    return rate && rate->relative() && evaluation.randomInputs ? std::nullopt : rate;
}
/// Returns float minus quantized rate; empty without rates.
inline std::optional<double> rateDrop(const Accuracy& floating, const Accuracy& quantized) {
    const auto rate = taskRate(quantized);
    if (!rate) return std::nullopt;
    if (rate->relative()) return 1 - rate->value;
    const auto reference = taskRate(floating);
    return (reference ? reference->value : 1.0) - rate->value;
}

}  // namespace quantloupe
