// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares two networks on the same samples by a metric that is not a fraction of correct samples, such as
// mAP or mIoU.
//
// Delete-a-group jackknife (P. S. Kott, "The delete-a-group jackknife", Journal of Official Statistics 17,
// 2001): the samples are divided into G groups by index modulo G, and the metric of both networks is computed
// without each group. With d_g = after - before without group g, the variance of the difference is (G - 1) /
// G * sum (d_g - mean d)^2; the interval uses Student's t with G - 1 degrees of freedom. The same samples are
// left out for both networks, so variation that is common to both cancels. Weakness: with few samples per
// group, a category may occur in one group only; the interval is then too wide rather than too narrow.

#include "analysis/paired_comparison.h"
#include "results/evaluation.h"

namespace quantloupe {

/// Returns the number of groups: 20, or one per sample if there are fewer samples.
std::size_t jackknifeGroups(std::size_t samples);

/// Compares two networks on the same samples. PairedComparison::fixed and broken are the samples whose own
/// value rose and fell. The interval is -1 to 1 if there are fewer than two groups.
PairedComparison compareGraded(double before, const TaskScores& beforeScores, double after,
                               const TaskScores& afterScores);

/// Returns P(|T| >= t) for Student's t with `freedom` degrees of freedom (Abramowitz and Stegun 26.7.3 and
/// 26.7.4).
double studentTails(double t, std::size_t freedom);
/// Returns the t for which studentTails(t) = 0.05.
double studentQuantile95(std::size_t freedom);

}  // namespace quantloupe
