// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much better the results of a network are after an edit.

#include <optional>

#include "analysis/paired_comparison.h"
#include "results/evaluation.h"
#include "results/task_metric.h"

namespace quantloupe {

/// Compares two evaluations on the same samples by their rate. Empty if they do not both have classes, or
/// scores of a detector or segmentation network, for the same number of samples.
std::optional<PairedComparison> compareEvaluations(const Evaluation& before, const Evaluation& after);
/// Compares the float network with the quantized one: the change that quantization causes.
std::optional<PairedComparison> compareWithFloat(const Evaluation& evaluation);

/// Returns the metric in which edits of this evaluation are compared: that of the task, but the SQNR instead
/// of the agreement of few samples or of random inputs, which says nothing.
TaskMetric gainMetric(const Evaluation& evaluation);

struct EvaluationGain {
    TaskMetric metric;
    double value;                            ///< positive if the results are better; a rate's is a fraction
    std::optional<PairedComparison> paired;  ///< of the samples, if the metric is a rate

    /// Whether the gain is more than chance (McNemar's exact test), at least 0.1 dB, or any gain in the
    /// user's metric.
    bool significant() const;
};
EvaluationGain gainBetween(const Evaluation& before, const Evaluation& after, TaskMetric metric);

}  // namespace quantloupe
