// SPDX-License-Identifier: Apache-2.0
// The range whose bound the given part of all magnitudes |x| keeps: [-t, t], and never beyond what was seen, so that a tensor
// without negative values has [0, t]. Computed as ONNX Runtime's calibrate.py does it unless told otherwise, on a histogram of |x|;
// t is an edge of a bin.
// Difference: ONNX Runtime's histogram starts at the smallest |x|, ours at 0.
// Cost: one histogram. Weaknesses: the bound is as coarse as the bins, so one huge outlier makes all bins wide; a lopsided tensor is cut
// more on its longer side alone.
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
    const Histogram folded = distribution.symmetric.coarsened(std::min(2 * bins, distribution.symmetric.bins())).folded();
    const float bound = folded.edge(binReaching(folded, part));
    CalibrationResult result;
    result.quantizer = quantizerForRange(std::max(-bound, statistics.min), std::min(bound, statistics.max), scheme);
    return result;
}

}  // namespace quantloupe
