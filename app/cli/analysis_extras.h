// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results that analyze prints in addition to the evaluation, each only if its option is given.

#include <optional>
#include <string>
#include <vector>

#include "json_output.h"
#include "options.h"
#include "session/stages/sample_divergence.h"
#include "session/stages/user_metrics.h"
#include "session/studies/layer_details.h"

namespace quantloupe::cli {

struct AnalysisExtras {
    std::vector<AccuracyStep> path;
    std::optional<LayerDetails> layer;
    std::optional<FlippedSamples> images;
    std::optional<SampleDivergence> image;
    std::optional<ConfigComparison> against;
    std::optional<UserMetricValues> userMetric;
    /// One per layer: why it has no metrics. Empty if the evaluation's own metrics are used.
    std::vector<std::string> reasons;
};

/// Computes what the options request. If they request other layer metrics than an evaluation has, these
/// replace the ones in `result`. Throws Error.
AnalysisExtras gatherExtras(Session& session, const Options& options, Evaluation& result,
                            const EvaluationObserver& observer);

/// "only weights quantized, against the source float network".
std::string describe(const LayerMetricsOptions& metrics);
void addTo(OrderedJson& document, const AnalysisExtras& extras, const Options& options);
/// Prints everything except the path.
void printReadable(const AnalysisExtras& extras, const Options& options);

}  // namespace quantloupe::cli
