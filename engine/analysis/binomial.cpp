// SPDX-License-Identifier: Apache-2.0
#include "analysis/binomial.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quantloupe {
namespace {

/// Returns ln n!, with Stirling's series from 20 on (the next term is below 1e-15). std::lgamma is not used
/// because it writes to a global variable.
double logFactorial(std::size_t n) {
    if (n < 20) {
        double product = 1;
        for (std::size_t i = 2; i <= n; ++i) product *= static_cast<double>(i);
        return std::log(product);
    }
    constexpr double kHalfLogTwoPi = 0.91893853320467274178;
    const double x = static_cast<double>(n), square = x * x;
    return (x + 0.5) * std::log(x) - x + kHalfLogTwoPi +
           (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / x;
}

double logTerm(std::size_t k, std::size_t n, double p) {
    return logFactorial(n) - logFactorial(k) - logFactorial(n - k) + static_cast<double>(k) * std::log(p) +
           static_cast<double>(n - k) * std::log1p(-p);
}

/// Returns the sum of the terms from `first` up to n or down to 0. Requires that `first` is beyond the mean,
/// so that the terms decrease.
double tailBeyondMean(std::size_t first, std::size_t n, double p, bool upward) {
    const double odds = p / (1 - p);
    double term = 1, sum = 1;
    for (std::size_t k = first; upward ? k < n : k > 0; upward ? ++k : --k) {
        const auto below = static_cast<double>(k), above = static_cast<double>(n - k);
        term *= upward ? above / (below + 1) * odds : below / (above + 1) / odds;
        sum += term;
        if (term < sum * std::numeric_limits<double>::epsilon() / 16) break;
    }
    return std::min(1.0, std::exp(logTerm(first, n, p)) * sum);
}

}  // namespace

double binomialUpperTail(std::size_t hits, std::size_t trials, double p) {
    if (hits == 0) return 1;
    if (hits > trials || p <= 0) return 0;
    if (p >= 1) return 1;
    if (static_cast<double>(hits) > static_cast<double>(trials) * p)
        return tailBeyondMean(hits, trials, p, true);
    return 1 - tailBeyondMean(hits - 1, trials, p, false);
}

}  // namespace quantloupe
