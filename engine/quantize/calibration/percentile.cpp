// SPDX-License-Identifier: Apache-2.0
// The range that holds the given part of all values; the rest is cut in equal parts on both sides (affine) or from |x|
// (symmetric). Computed on a histogram as ONNX Runtime's calibrate.py does it: over [-absmax, absmax], and the bounds are edges of
// bins, never beyond what was seen.
// Difference for symmetric schemes: ONNX Runtime's histogram of |x| starts at the smallest |x|, ours at 0.
// Cost: one histogram. Weakness: the bounds are as coarse as the bins, so one huge outlier makes all bins wide.
#include <algorithm>

#include "quantize/calibration/calibration_method.h"

namespace quantloupe {
namespace {

/// The first bin where the cumulated share reaches `share`.
std::size_t binReaching(const Histogram& histogram, double share) {
    const double total = static_cast<double>(histogram.total());
    double cumulated = 0;
    for (std::size_t i = 0; i < histogram.bins(); ++i) {
        cumulated += static_cast<double>(histogram.counts()[i]) / total;
        if (cumulated >= share) return i;
    }
    return histogram.bins();
}

}  // namespace

CalibrationResult solvePercentile(const TensorStatistics& statistics, const ActivationScheme& scheme,
                                  const CalibrationParameters& parameters) {
    const ValueDistribution& distribution = *statistics.distribution;
    const double part = parameters.percentile.value_or(0.99999);
    const auto bins = static_cast<std::size_t>(parameters.bins.value_or(2048));
    CalibrationResult result;
    if (scheme.symmetric) {
        const Histogram folded = distribution.symmetric.coarsened(std::min(2 * bins, distribution.symmetric.bins())).folded();
        const float bound = folded.edge(binReaching(folded, part));
        result.quantizer = quantizerForRange(std::max(-bound, statistics.min), std::min(bound, statistics.max), scheme);
        return result;
    }
    const Histogram histogram = distribution.symmetric.coarsened(bins);
    const double cut = (100.0 - 100.0 * part) / 200.0;  // in percent first: ONNX Runtime's rounding
    const float low = histogram.edge(binReaching(histogram, cut));
    const float high = histogram.edge(binReaching(histogram, 1.0 - cut));
    result.quantizer = quantizerForRange(std::max(low, statistics.min), std::min(high, statistics.max), scheme);
    return result;
}

}  // namespace quantloupe
