// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interval of the difference of two rates on the same samples.
//
// R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
// paired data", Statistics in Medicine 17 (1998), method 10: combines the Wilson intervals of both rates with
// the correlation of the pairs, corrected for continuity. A change that no sample shows is still possible.

#include <cstddef>

#include "results/evaluation.h"

namespace quantloupe {

/// Number of samples that are right before and after, only before, only after, or never.
struct PairedCounts {
    std::size_t both = 0, onlyBefore = 0, onlyAfter = 0, neither = 0;
};

/// Returns the 95 % interval of the rate before minus the rate after. Without samples, -1 to 1.
RateInterval pairedDropInterval(const PairedCounts& counts);

}  // namespace quantloupe
