// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much two rates on the same samples differ, as an interval.
//
// R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on paired data",
// Statistics in Medicine 17 (1998), method 10: the Wilson intervals of both rates, squared and added with the
// correlation of the pairs, which is corrected for continuity. Unlike the interval of paired_comparison.h it allows for
// how the number of discordant samples would vary with other samples; a change that no sample shows is still possible.

#include <cstddef>

#include "session/evaluation.h"

namespace quantloupe {

/// Samples by where they were right.
struct PairedCounts {
    std::size_t both = 0, onlyBefore = 0, onlyAfter = 0, neither = 0;
};

/// 95 % interval of the rate before minus the rate after. Without samples -1 to 1.
RateInterval pairedDropInterval(const PairedCounts& counts);

}  // namespace quantloupe
