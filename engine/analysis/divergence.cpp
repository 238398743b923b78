// SPDX-License-Identifier: Apache-2.0
#include "analysis/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quantloupe {
namespace {

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

/// The function max((x - low) * factor, e).
struct Scaling {
    double low = 0, factor = 1;
    bool finite = true;
    double operator()(float x) const { return std::max((static_cast<double>(x) - low) * factor, kEpsilon); }
};

Scaling scalingOf(const float* values, std::size_t count) {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    bool finite = true;
    for (std::size_t i = 0; i < count; ++i) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
        finite = finite && std::isfinite(values[i]);
    }
    if (!finite) return {0, 1, false};
    if (low == high) return {};
    const double range = static_cast<double>(high) - static_cast<double>(low);
    return {low, 1 / range, true};
}

}  // namespace

double klDivergence(const float* reference, const float* tested, std::size_t count) {
    if (count == 0) return 0;
    const Scaling q = scalingOf(reference, count), p = scalingOf(tested, count);
    if (!q.finite || !p.finite) return std::numeric_limits<double>::quiet_NaN();
    double sumP = 0, sumQ = 0, sumLogs = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double u = p(tested[i]), v = q(reference[i]);
        sumP += u;
        sumQ += v;
        sumLogs += u * std::log(u / v);
    }
    const double divergence = sumLogs / sumP - std::log(sumP / sumQ);
    return std::fabs(divergence) < kEpsilon ? 0 : divergence;
}

void DivergenceSums::addSample(const float* reference, const float* tested, std::size_t count) {
    if (count == 0) return;
    const double divergence = klDivergence(reference, tested, count);
    merge({divergence, divergence, 1});
}

void DivergenceSums::merge(const DivergenceSums& other) {
    sum += other.sum;
    max = std::fmax(max, other.max);
    samples += other.samples;
}

}  // namespace quantloupe
