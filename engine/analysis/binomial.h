// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exact probabilities of the binomial distribution.

#include <cstddef>

namespace quantloupe {

/// Returns P(X >= hits) for X ~ Bin(trials, p), summing terms from the largest on. The relative error is
/// about 1e-12 for a thousand trials and 1e-8 for a million (logarithms of factorials cancel). 1 if hits = 0,
/// 0 if hits > trials.
double binomialUpperTail(std::size_t hits, std::size_t trials, double p);

}  // namespace quantloupe
