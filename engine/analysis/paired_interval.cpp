// SPDX-License-Identifier: Apache-2.0
#include "analysis/paired_interval.h"

#include <algorithm>
#include <cmath>

#include "analysis/task_metrics.h"

namespace quantloupe {
namespace {

double correlation(const PairedCounts& counts) {
    const auto both = static_cast<double>(counts.both), before = static_cast<double>(counts.onlyBefore),
               after = static_cast<double>(counts.onlyAfter), neither = static_cast<double>(counts.neither);
    const double margins = (both + before) * (after + neither) * (both + after) * (before + neither);
    if (margins <= 0) return 0;
    double numerator = both * neither - before * after;
    if (numerator > 0) numerator = std::max(numerator - (both + before + after + neither) / 2, 0.0);
    return numerator / std::sqrt(margins);
}

}  // namespace

RateInterval pairedDropInterval(const PairedCounts& counts) {
    const std::size_t samples = counts.both + counts.onlyBefore + counts.onlyAfter + counts.neither;
    if (samples == 0) return {-1, 1};
    const auto n = static_cast<double>(samples);
    const double before = static_cast<double>(counts.both + counts.onlyBefore) / n;
    const double after = static_cast<double>(counts.both + counts.onlyAfter) / n;
    const RateInterval b = wilsonInterval(counts.both + counts.onlyBefore, samples);
    const RateInterval a = wilsonInterval(counts.both + counts.onlyAfter, samples);
    const double phi = correlation(counts);
    const auto reach = [phi](double one, double other) {
        return std::sqrt(std::max(0.0, one * one - 2 * phi * one * other + other * other));
    };
    return {before - after - reach(before - b.low, a.high - after),
            before - after + reach(b.high - before, after - a.low)};
}

}  // namespace quantloupe
