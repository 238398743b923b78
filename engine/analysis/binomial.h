// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exact probabilities and intervals of the binomial distribution.

#include <cstddef>

namespace quantloupe {

/// Returns P(X >= hits) for X ~ Bin(trials, p), summing terms from the largest on. The relative error is
/// about 1e-12 for a thousand trials and 1e-8 for a million (logarithms of factorials cancel). 1 if hits = 0,
/// 0 if hits > trials.
double binomialUpperTail(std::size_t hits, std::size_t trials, double p);

/// Interval of a rate, 0 to 1.
struct ExactInterval {
    double low = 0, high = 1;
};

/// C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
/// binomial", Biometrika 26 (1934): the rates at which `hits` or more, or `hits` or fewer, have a probability
/// of (1 - confidence) / 2. Covers any rate with a probability of at least `confidence`. Without trials, 0 to
/// 1.
ExactInterval clopperPearson(std::size_t hits, std::size_t trials, double confidence = 0.95);

}  // namespace quantloupe
