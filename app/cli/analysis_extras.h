// SPDX-License-Identifier: Apache-2.0
#pragma once
// What analyze tells beside the evaluation, each only if its option asks for it.

#include <optional>
#include <string>
#include <vector>

#include "json_output.h"
#include "options.h"
#include "session/layer_details.h"
#include "session/sample_divergence.h"
#include "session/user_metrics.h"

namespace quantloupe::cli {

struct AnalysisExtras {
    std::vector<AccuracyStep> path;
    std::optional<LayerDetails> layer;
    std::optional<FlippedSamples> images;
    std::optional<SampleDivergence> image;
    std::optional<ConfigComparison> against;
    std::optional<UserMetricValues> userMetric;
    /// One a layer: why it lacks metrics. Empty where the evaluation's own metrics stand.
    std::vector<std::string> reasons;
};

/// Measures them; the metrics of the layers, where others are asked for than an evaluation has, take the place of those
/// in `result`. Throws Error.
AnalysisExtras gatherExtras(Session& session, const Options& options, Evaluation& result,
                            const EvaluationObserver& observer);

/// "only weights quantized, against the source float network".
std::string describe(const LayerMetricsOptions& metrics);
void addTo(Json& document, const AnalysisExtras& extras, const Options& options);
/// All but the path.
void printReadable(const AnalysisExtras& extras, const Options& options);

}  // namespace quantloupe::cli
