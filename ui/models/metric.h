// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers that graph, table, legend and inspector show of a layer, and how far each lies between harmless
// and bad.

#include <QString>
#include <array>
#include <optional>
#include <vector>

#include "session/evaluation.h"

namespace quantloupe::ui {

enum class Metric { None, LocalQs, CumulativeQs, WeightQs, LeaveOneOut, Sqnr, Macs };
inline constexpr std::array kMetrics = {Metric::None,     Metric::LocalQs,     Metric::CumulativeQs,
                                        Metric::WeightQs, Metric::LeaveOneOut, Metric::Sqnr,
                                        Metric::Macs};

/// "QS local".
QString metricName(Metric metric);
/// One sentence.
QString metricMeaning(Metric metric);
/// Empty where the layer has no such number. May be infinite.
std::optional<double> metricValue(const LayerResult& layer, Metric metric);
QString formatMetric(double value, Metric metric);
/// With a sign, in the digits of formatMetric(); empty unless both are finite.
QString formatMetricDifference(double value, double baseline, Metric metric);

/// Where values lie between the best (0) and the worst (1) of all layers.
struct MetricScale {
    Metric metric = Metric::None;
    double best = 0, worst = 1;
    bool any = false;  ///< some layer has the number
    bool clipped =
        false;  ///< a few layers are far worse than `worst`; it lies where it tells the others apart
    double position(double value) const;
};
MetricScale scaleOf(const std::vector<LayerResult>& layers, Metric metric);

QString formatQs(double value);            ///< "0.412"
QString formatDecibel(double value);       ///< "7.7 dB", "∞ dB"
QString formatCount(std::uint64_t count);  ///< "1.2 M"
QString formatRate(double rate);           ///< "93.5 %"
QString formatPoints(double rate);         ///< "−5.6", a difference of rates in points
QString formatSeconds(double seconds);     ///< "31 ms", "1.24 s"
QString stateText(LayerState state);       ///< "quantized", "skipped"

}  // namespace quantloupe::ui
