// SPDX-License-Identifier: Apache-2.0
#pragma once
// The metrics of a layer in the graph, table, legend and inspector, and the position of each value on a scale
// from harmless to bad.

#include <QString>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "results/task_metric.h"

namespace quantloupe::ui {

enum class Metric {
    None,
    LocalQs,
    CumulativeQs,
    WeightQs,
    LeaveOneOut,
    Sqnr,
    Macs,
    Cosine,
    RangeRatio,
    Bits,
    Difference,  ///< of the cumulative QS to another configuration (document/layer_reference.h)
    Latency,     ///< milliseconds, from the document's profiles (document/layer_latency.h)
};
/// The metrics with a shortcut, 1 to 9 and 0, followed by those without.
inline constexpr std::array kMetrics = {Metric::None,        Metric::LocalQs,  Metric::CumulativeQs,
                                        Metric::LeaveOneOut, Metric::Cosine,   Metric::RangeRatio,
                                        Metric::Bits,        Metric::Macs,     Metric::Difference,
                                        Metric::Latency,     Metric::WeightQs, Metric::Sqnr};
inline constexpr std::size_t kMetricsWithKey = 10;

/// The untranslated key of a metric, used in projects and settings: "local.qs".
QString metricKey(Metric metric);
/// Returns the metric with this key, if there is one.
std::optional<Metric> metricOfKey(const QString& key);
/// "QS local".
QString metricName(Metric metric);
/// One sentence.
QString metricMeaning(Metric metric);
/// Returns a name of one or two words, for narrow places.
QString metricShortName(Metric metric);
/// Empty if the layer has no such number; Metric::Difference and Metric::Latency need more than the layer.
/// May be infinite.
std::optional<double> metricValue(const LayerResult& layer, Metric metric);
/// The metric of which Metric::LeaveOneOut is a gain: gainMetric(), or a rate if there is no evaluation.
TaskMetric gainMetricOf(const Evaluation* evaluation);
QString formatMetric(double value, Metric metric, TaskMetric gainMetric = TaskMetric::Top1);
/// A value of the user's metric.
QString formatOwnMetric(double value);
/// "W4A8", "A8" of a layer without a weight, "F16" or "F32".
QString formatBits(const LayerResult& layer);

/// Groups of precisions that have separate colors in the bits overlay.
enum class PrecisionClass {
    FewBits,  ///< fewer than 8 bits for weights or activations
    EightBits,
    WideActivations,  ///< 8-bit weights, activations with more bits
    WideWeights,
    Float16,
    Float32,
};
inline constexpr std::size_t kPrecisionClasses = 6;
PrecisionClass precisionClassOf(const LayerResult& layer);
/// In one word, for the legend: "W8A16".
QString precisionClassName(PrecisionClass precisionClass);

/// The user's choices for a metric's scale.
struct ScaleChoice {
    std::optional<double> best, worst;  ///< ends of the scale; empty: derived from the values
    std::optional<bool> logarithmic;    ///< empty: default of the metric
    bool operator==(const ScaleChoice&) const = default;
};
/// Formats a difference with a sign and the digits of formatMetric(); empty unless both values are finite.
QString formatMetricDifference(double value, double baseline, Metric metric,
                               TaskMetric gainMetric = TaskMetric::Top1);

/// Maps values to positions between the best (0) and the worst (1) value of all layers.
struct MetricScale {
    Metric metric = Metric::None;
    TaskMetric gainMetric = TaskMetric::Top1;
    double best = 0, worst = 1;
    double fullBest = 0, fullWorst = 1;  ///< ends of all values, for the axis of the legend
    bool any = false;                    ///< some layer has a value
    bool clipped = false;  ///< a few layers are far worse than `worst`, which separates the others well
    bool logarithmic = false;
    bool diverging = false;  ///< 0 is in the middle; lower is better, higher is worse
    double position(double value) const;
    double axisPosition(double value) const;  ///< position on the axis of the legend, 0 to 1
    double axisValue(double position) const;
};
/// Returns whether a logarithmic scale is useful for the metric.
bool canBeLogarithmic(Metric metric);
MetricScale scaleOf(std::span<const std::optional<double>> values, Metric metric,
                    const ScaleChoice& choice = {});
MetricScale scaleOf(const std::vector<LayerResult>& layers, Metric metric);

QString formatQs(double value);                   ///< "0.412"
QString formatDecibel(double value);              ///< "7.7 dB", "∞ dB"
QString formatNumber(std::size_t number);         ///< "1,000"
QString formatDecimal(double value, int digits);  ///< "\u22120.6": with a minus sign, not a hyphen
/// "1.2 M"; with more decimals "1.234 M".
QString formatCount(std::uint64_t count, int moreDecimals = 0);
QString formatRate(double rate);    ///< "93.5 %"
QString formatPoints(double rate);  ///< "−5.6", a difference of rates in points
/// Returns whether a change in points or decibels is still negative when it is shown with one decimal.
bool isVisibleLoss(double change);
QString formatSeconds(double seconds);  ///< "31 ms", "1.24 s"
QString formatMilliseconds(double ms);  ///< "12.4 ms", "0.051 ms"
QString stateText(LayerState state);    ///< "quantized", "skipped"

}  // namespace quantloupe::ui
