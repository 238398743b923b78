// SPDX-License-Identifier: Apache-2.0
#pragma once
// The plots of a report as self-contained SVG, without scripts or fonts.

#include <string>
#include <vector>

#include "results/evaluation.h"

namespace quantloupe {

/// Returns the plotted rate: mAP, mIoU or top-1, or the agreement with the float network without labels;
/// empty if there is none.
std::optional<double> plottedRate(const Accuracy& accuracy);
/// "mAP", "mIoU", "top-1" or "agreement".
const char* plottedName(const Accuracy& accuracy);

/// One bar per step, each with its accuracy loss. Empty without rates.
std::string pathPlot(const std::vector<AccuracyStep>& path);
/// The rate of each evaluated configuration, oldest first. Empty for fewer than two.
std::string historyPlot(const std::vector<AccuracyStep>& history);
/// QS of the quantized and skipped layers in graph order: local as bars, cumulative as a line. Empty without
/// values.
std::string sensitivityPlot(const std::vector<LayerResult>& layers);

}  // namespace quantloupe
