// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts for the costs and results of a search, and for the axes of its plot.

#include <QString>
#include <array>
#include <optional>
#include <vector>

#include "results/evaluation.h"
#include "search/tune.h"
#include "widgets/trade_off_plot.h"

namespace quantloupe::ui {

QString costTitle(CostKind kind);    ///< "bytes of weights"
QString costMeaning(CostKind kind);  ///< one sentence
QString costUnit(CostKind kind);     ///< of a budget: "ms", "bytes"
/// "1.7 MB", "12.4 ms", "3": without the name of the cost.
QString amountText(CostKind kind, double amount, int moreDigits = 0);
/// How many more digits make the texts of different amounts different.
int digitsToTellApart(CostKind kind, std::vector<double> amounts);
/// Reads "12.4", "300 k" or "1.5M"; empty for other texts and for negative numbers.
std::optional<double> parseAmount(const QString& text);
/// "88.4 %", "23.1 dB", or the number of the user's metric.
QString taskMetricText(TaskMetric metric, double value);
/// How much drop of the metric is one in the texts: a point, or one in the unit of the user's metric.
double dropUnit(TaskMetric metric);
/// "1.2": in dropUnit().
QString dropText(TaskMetric metric, double drop);
QString tuneMetricTitle(const TuneResult& result);  ///< "top-1"

/// A cost on the axis: costs in float as a share, in percent, of the layers that can be in float.
double costOnAxis(const TuneResult& result, double amount);
double amountOnAxis(const TuneResult& result, double place);  ///< the inverse
QString costAxisTitle(const TuneResult& result);
QString costAxisText(const TuneResult& result, double place, int moreDigits = 0);
TradeOffValues valuesOnAxis(const TuneResult& result);
/// The worst value of the metric that keeps the accuracy drop within the target, on the axis of the metric:
/// percent, dB, or the unit of the user's metric. Empty without a target.
std::optional<double> targetOnAxis(const TuneResult& result);
double dropOnAxis(const TuneResult& result, double place);  ///< the drop at a place of that axis
double metricOnAxis(const TuneResult& result, double metric);

/// The names of the precisions that are offered for layers, most precise first.
inline constexpr std::array kUsualPrecisions = {"float32", "float16", "w16a16", "w8a16",
                                                "w8a8",    "w4a16",   "w4a8"};

/// Returns whether the precision differs from the layer's present one.
bool changesPrecision(const LayerResult& layer, const Precision& precision);

}  // namespace quantloupe::ui
