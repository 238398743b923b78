// SPDX-License-Identifier: Apache-2.0
#pragma once
// Access to the metrics of threshold rules in the results of an evaluation.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/evaluation.h"

namespace quantloupe {

/// Returns the layer's value; empty if it was not measured. leave_one_out is a fraction of the task's metric.
std::optional<double> skipMetricOf(const LayerResult& layer, SkipMetric metric);

/// Throws Error naming the first threshold rule whose metric needs samples, if there is one. Without samples
/// the rule would silently match nothing. `option` is the command-line option that provides samples.
void requireSamplesForThresholds(const QuantizationConfig& config, std::string_view option = "--data");

/// Returns the quantizable layers that a threshold rule matches, given their metrics.
std::vector<std::string> layersBeyond(const SkipRule& rule, const std::vector<LayerResult>& layers);

/// Fills in the layers of threshold rules from available metrics. For cumulative.* and leave_one_out this is
/// an estimate because these depend on what the rules themselves skip (session/studies/threshold_rules.h
/// measures them exactly).
QuantizationConfig withThresholdsFrom(QuantizationConfig config, const std::vector<LayerResult>& layers);

}  // namespace quantloupe
