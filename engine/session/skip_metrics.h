// SPDX-License-Identifier: Apache-2.0
#pragma once
// The metrics that threshold rules look at, in what an evaluation found.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/evaluation.h"

namespace quantloupe {

/// The layer's value; empty where it was not measured. leave_one_out: of the task's metric, as a fraction.
std::optional<double> skipMetricOf(const LayerResult& layer, SkipMetric metric);

/// Whether the metric is measured on samples. Those of the weights alone are not.
bool needsSamples(SkipMetric metric);
/// Throws Error, naming the first threshold rule whose metric needs samples: without them the rule would
/// silently cover nothing. `option` is the one that gives samples on the command line.
void requireSamplesForThresholds(const QuantizationConfig& config, std::string_view option = "--data");

/// The quantizable layers that a threshold rule takes, by these metrics.
std::vector<std::string> layersBeyond(const SkipRule& rule, const std::vector<LayerResult>& layers);

/// Fills the threshold rules from metrics that are at hand. A guess for cumulative.* and leave_one_out, which depend on what the rules
/// themselves skip (session/threshold_rules.h does it right).
QuantizationConfig withThresholdsFrom(QuantizationConfig config, const std::vector<LayerResult>& layers);

}  // namespace quantloupe
