// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/histogram_loss.h"

#include <algorithm>
#include <cmath>

namespace quantloupe {
namespace {

/// Returns the integral of (t - round(t))^2 from 0 to u.
double roundingIntegral(double u) {
    const double n = std::nearbyint(u), f = u - n;
    return n / 12 + f * f * f / 3;
}

/// Returns the integral of (x - target)^2 from a to b.
double constantIntegral(double a, double b, double target) {
    const double to = b - target, from = a - target;
    return (to * to * to - from * from * from) / 3;
}

double square(double x) { return x * x; }

}  // namespace

double RoundingGrid::apply(double x) const {
    return std::nearbyint(std::clamp(x, low, high) / scale) * scale;
}

HistogramLoss::HistogramLoss(const ValueDistribution& distribution) {
    Histogram histogram = distribution.range;
    const auto take = [&](float value, std::uint64_t count) {
        if (count == 0) return;
        histogram.remove(value, count);
        m_points.emplace_back(value, static_cast<double>(count));
    };
    take(distribution.min, distribution.atMin);
    if (distribution.max != distribution.min) take(distribution.max, distribution.atMax);
    if (distribution.min != 0 && distribution.max != 0) take(0, distribution.atZero);
    for (std::size_t i = 0; i < histogram.bins(); ++i)
        if (histogram.counts()[i] > 0)
            m_bins.push_back(
                {histogram.edge(i), histogram.edge(i + 1), static_cast<double>(histogram.counts()[i])});
    m_count = static_cast<double>(distribution.count);
}

double HistogramLoss::operator()(const RoundingGrid& grid) const {
    const double low = grid.apply(grid.low), high = grid.apply(grid.high);
    const double cube = grid.scale * grid.scale * grid.scale;
    double sum = 0;
    for (const auto& [value, count] : m_points) sum += count * square(value - grid.apply(value));
    for (const Bin& bin : m_bins) {
        const double a = std::clamp(grid.low, bin.left, bin.right),
                     b = std::clamp(grid.high, bin.left, bin.right);
        double integral = 0;
        if (a > bin.left) integral += constantIntegral(bin.left, a, low);
        if (b > a) integral += cube * (roundingIntegral(b / grid.scale) - roundingIntegral(a / grid.scale));
        if (b < bin.right) integral += constantIntegral(b, bin.right, high);
        sum += bin.count * integral / (bin.right - bin.left);
    }
    return m_count > 0 ? sum / m_count : 0;
}

}  // namespace quantloupe
