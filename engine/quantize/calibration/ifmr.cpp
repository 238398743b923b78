// SPDX-License-Identifier: Apache-2.0
// IFMR, AMCT's "input feature map reconstruction": tries upper bounds of the range around a percentile of the
// values and chooses the one with the smallest mean squared error.
//
// - v_max and v_min are the k-th largest and smallest value, k = N - floor(percentile * N), at least 1. The
//   range is extended to include 0.
// - Candidates: (start + i * step) * v_max for i = 0 .. n-1, where n = ceil((end - start) / step) in double:
//   61 with the defaults, because (1.3 - 0.7) / 0.01 is slightly above 60.
// - Affine: the lower bound is v_min; scale = (candidate - v_min) / (2^bits - 1).
// - Symmetric: v_max is the larger magnitude, and the bounds are plus and minus the candidate; scale =
//   candidate / (2^(bits-1) - 1), or candidate / 2^(bits-1) if v_min has the larger magnitude.
// - Loss: mean of (round(clamp(x) / scale) * scale - x)^2 over all values; the zero point is not rounded.
//
// The first candidate with the smallest loss wins. If it is the first or last candidate, the search range was
// too narrow, and a notice says so. Source: Huawei AMCT (documentation and published behavior). Cost:
// candidates * N on the values. If there are more values than ValueDistribution keeps: candidates * bins on a
// histogram, and the result is marked as approximate (its loss is within 1 % of the exact algorithm's on
// normal, exponential and clipped data). Weakness: only the upper bound is searched.
#include <fmt/format.h>

#include <cmath>

#include "quantize/calibration/amct_scale.h"
#include "quantize/calibration/calibration_method.h"
#include "quantize/calibration/histogram_loss.h"

namespace quantloupe {
namespace {

std::uint64_t rankOf(double percentile, std::uint64_t count) {
    if (1 - percentile < static_cast<double>(kAmctLeastScale)) return 1;
    const auto kept = static_cast<std::uint64_t>(std::floor(percentile * static_cast<double>(count)));
    return std::max<std::uint64_t>(count - kept, 1);
}

/// Uses float32 as AMCT does, but sums in double.
double exactLoss(const std::vector<float>& samples, float scale, float low, float high) {
    double sum = 0;
    for (const float x : samples) {
        const float y = std::nearbyint(std::clamp(x, low, high) / scale) * scale;
        sum += static_cast<double>(y - x) * static_cast<double>(y - x);
    }
    return sum / static_cast<double>(samples.size());
}

}  // namespace

CalibrationResult solveIfmr(const TensorStatistics& statistics, const ActivationScheme& scheme,
                            const CalibrationParameters& parameters) {
    const ValueDistribution& distribution = *statistics.distribution;
    const auto [start, end] = *parameters.searchRange;
    const double step = *parameters.searchStep;
    float high =
        std::max(0.0f, distribution.kthLargest(rankOf(*parameters.maxPercentile, distribution.count)));
    const float low =
        std::min(0.0f, distribution.kthSmallest(rankOf(*parameters.minPercentile, distribution.count)));
    const bool negative = scheme.symmetric && high < -low;
    if (scheme.symmetric) high = std::max(high, -low);

    const int half = 1 << (scheme.bits - 1);
    const auto levels = static_cast<float>(!scheme.symmetric ? 2 * half - 1 : negative ? half : half - 1);
    const bool exact = !distribution.samples.empty();
    std::optional<HistogramLoss> approximateLoss;
    if (!exact) approximateLoss.emplace(distribution);

    CalibrationResult result;
    result.approximate = !exact;
    result.candidates = static_cast<int>(std::ceil((end - start) / step));
    float best = 1;
    for (int i = 0; i < result.candidates; ++i) {
        const float bound = static_cast<float>(start + i * step) * high;
        const float bottom = scheme.symmetric ? -bound : low;
        float scale = (bound - (scheme.symmetric ? 0.0f : low)) / levels;
        if (scale < kAmctLeastScale) scale = 1;
        const double loss = exact
                                ? exactLoss(distribution.samples, scale, bottom, bound)
                                : (*approximateLoss)({static_cast<double>(scale), static_cast<double>(bottom),
                                                      static_cast<double>(bound)});
        if (result.index >= 0 && loss >= result.loss) continue;
        result.loss = loss;
        result.index = i;
        best = scale;
    }
    const int offset = scheme.symmetric ? 0 : -static_cast<int>(std::nearbyint(low / best)) - half;
    result.quantizer = amctQuantizer({best, offset}, scheme);
    // Without positive values, the candidates are the same.
    if (high > 0 && result.candidates > 1 && (result.index == 0 || result.index + 1 == result.candidates))
        result.notice = fmt::format(
            "the best bound of IFMR is at the edge of the search range ({:.2f} of the percentile's value); "
            "widen search_range",
            start + result.index * step);
    return result;
}

}  // namespace quantloupe
