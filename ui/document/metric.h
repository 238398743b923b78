// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of a layer in graph, table, legend and inspector, and how far each lies between harmless and
// bad.

#include <QString>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "results/evaluation.h"

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
};
/// The metrics with a shortcut, 1 to 9, followed by those without.
inline constexpr std::array kMetrics = {Metric::None,        Metric::LocalQs, Metric::CumulativeQs,
                                        Metric::LeaveOneOut, Metric::Cosine,  Metric::RangeRatio,
                                        Metric::Bits,        Metric::Macs,    Metric::Difference,
                                        Metric::WeightQs,    Metric::Sqnr};
inline constexpr std::size_t kMetricsWithKey = 9;

/// "QS local".
QString metricName(Metric metric);
/// One sentence.
QString metricMeaning(Metric metric);
/// In one or two words, for a narrow place.
QString metricShortName(Metric metric);
/// Empty if the layer has no such number; Metric::Difference needs more than the layer. May be infinite.
std::optional<double> metricValue(const LayerResult& layer, Metric metric);
QString formatMetric(double value, Metric metric);
/// "W4A8", "A8" of a layer without a weight, "F16" or "F32".
QString formatBits(const LayerResult& layer);

/// The precisions that the overlay of the bits tells apart by color.
enum class PrecisionClass {
    FewBits,  ///< less than 8 bits for weights or activations
    EightBits,
    WideActivations,  ///< 8-bit weights, activations of more bits
    WideWeights,
    Float16,
    Float32,
};
inline constexpr std::size_t kPrecisionClasses = 6;
PrecisionClass precisionClassOf(const LayerResult& layer);
/// In one word, for the legend.
QString precisionClassName(PrecisionClass precisionClass);

/// The user's choices for a metric's scale.
struct ScaleChoice {
    std::optional<double> best, worst;  ///< ends; without: what the values suggest
    std::optional<bool> logarithmic;    ///< without: the metric's default
    bool operator==(const ScaleChoice&) const = default;
};
/// With a sign, in the digits of formatMetric(); empty unless both are finite.
QString formatMetricDifference(double value, double baseline, Metric metric);

/// Where values lie between the best (0) and the worst (1) of all layers.
struct MetricScale {
    Metric metric = Metric::None;
    double best = 0, worst = 1;
    double fullBest = 0, fullWorst = 1;  ///< of all values; the legend's axis
    bool any = false;                    ///< some layer has the number
    bool clipped =
        false;  ///< a few layers are far worse than `worst`; it lies where it tells the others apart
    bool logarithmic = false;
    bool diverging = false;  ///< 0 is in the middle: better below, worse above
    double position(double value) const;
    double axisPosition(double value) const;  ///< on the legend's axis, 0 to 1
    double axisValue(double position) const;
};
/// Whether a logarithmic scale makes sense.
bool canBeLogarithmic(Metric metric);
MetricScale scaleOf(std::span<const std::optional<double>> values, Metric metric,
                    const ScaleChoice& choice = {});
MetricScale scaleOf(const std::vector<LayerResult>& layers, Metric metric);

QString formatQs(double value);            ///< "0.412"
QString formatDecibel(double value);       ///< "7.7 dB", "∞ dB"
QString formatCount(std::uint64_t count);  ///< "1.2 M"
QString formatRate(double rate);           ///< "93.5 %"
QString formatPoints(double rate);         ///< "−5.6", a difference of rates in points
QString formatSeconds(double seconds);     ///< "31 ms", "1.24 s"
QString stateText(LayerState state);       ///< "quantized", "skipped"

}  // namespace quantloupe::ui
