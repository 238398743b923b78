// SPDX-License-Identifier: Apache-2.0
#pragma once
// The plots of a report, as SVG that needs no script, font or other file.

#include <string>
#include <vector>

#include "session/evaluation.h"

namespace quantloupe {

/// The one number of an accuracy that is plotted: top-1, without labels agreement with the float network (both rates), else nothing.
std::optional<double> plottedRate(const Accuracy& accuracy);
/// "top-1" or "agreement".
const char* plottedName(const Accuracy& accuracy);

/// A bar a step, and beside each what it cost. Empty without rates.
std::string pathPlot(const std::vector<AccuracyStep>& path);
/// The rate of each measured configuration, oldest first. Empty for fewer than two.
std::string historyPlot(const std::vector<AccuracyStep>& history);
/// QS of the quantized and skipped layers along the network: local as bars, cumulative as a line. Empty without numbers.
std::string sensitivityPlot(const std::vector<LayerResult>& layers);

}  // namespace quantloupe
