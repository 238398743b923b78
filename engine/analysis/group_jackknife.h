// SPDX-License-Identifier: Apache-2.0
#pragma once
// Comparison of a metric that is not a share of right samples, such as mAP or mIoU, on the same samples.
//
// Delete-a-group jackknife (P. S. Kott, "The delete-a-group jackknife", Journal of Official Statistics 17,
// 2001): the samples are divided into G groups by index modulo G, and the metric of both networks is computed
// without each group. With d_g = after - before without group g, the variance of the difference is
// (G - 1) / G * sum (d_g - mean d)^2; the interval uses Student's t with G - 1 degrees of freedom. Both
// networks lose the same samples, so what the samples have in common cancels. Weakness: with few samples per
// group, a category may occur in one group only; the interval is then too wide rather than too narrow.

#include <span>

#include "analysis/paired_comparison.h"
#include "results/evaluation.h"

namespace quantloupe {

/// Number of groups: 20, or one per sample.
std::size_t jackknifeGroups(std::size_t samples);

/// Compares two networks on the same samples. PairedComparison::fixed and broken are the samples whose own
/// value rose and fell. The interval is -1 to 1 if there are fewer than two groups.
PairedComparison compareGraded(double before, const TaskScores& beforeScores, double after,
                               const TaskScores& afterScores);

/// P(|T| >= t) of Student's t with `freedom` degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).
double studentTails(double t, std::size_t freedom);
/// The t with studentTails(t) = 0.05.
double studentQuantile95(std::size_t freedom);

}  // namespace quantloupe
