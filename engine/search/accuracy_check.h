// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a quantized network is accurate enough: the accuracy drop of an evaluation against a limit.

#include <optional>
#include <string>

#include "results/task_metric.h"

namespace quantloupe {

struct AccuracyCheck {
    TaskMetric metric = TaskMetric::Sqnr;      ///< as in TuneResult
    double maxDrop = 0;                        ///< the limit; 0.01 is one point
    double drop = 0;                           ///< as in TunePoint: below 0 is better than the float network
    std::optional<RateInterval> dropInterval;  ///< 95 %; empty if the outputs are not classes
    bool passed = false;
    /// Whether the whole interval is on the same side of the limit. False without an interval.
    bool certain = false;
};

/// Requires an evaluation of all samples (Depth::Accuracy). Throws Error if the outputs cannot be compared.
AccuracyCheck checkAccuracy(const Evaluation& evaluation, double maxDrop);

/// "passed: top-1 is 4.60 points below float; at most 5 are allowed (95 % interval 2.10 to 7.20 points)"
std::string describe(const AccuracyCheck& check);

}  // namespace quantloupe
