// SPDX-License-Identifier: Apache-2.0
// The range [-t, t] that contains the given fraction of all magnitudes |x|, limited to the observed range, so
// that a tensor without negative values has [0, t]. Computed as in ONNX Runtime's calibrate.py by default, on
// a histogram of |x|; t is an edge of a bin. Difference: ONNX Runtime's histogram starts at the smallest |x|,
// ours at 0. Cost: one histogram. Weaknesses: the bound is as coarse as the bins, and one huge outlier makes
// all bins wide; an asymmetric tensor is clipped only on its longer side.
#include <fmt/format.h>

#include <algorithm>

#include "quantize/calibration/calibration_method.h"

namespace quantloupe {
namespace {

/// Returns the first bin at which the cumulative fraction reaches `share`.
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
    const double part = *parameters.percentile;
    const auto bins = static_cast<std::size_t>(*parameters.bins);
    const Histogram folded =
        distribution.symmetric.coarsened(std::min(2 * bins, distribution.symmetric.bins())).folded();
    const float bound = folded.edge(binReaching(folded, part));
    CalibrationResult result;
    result.quantizer =
        quantizerForRange(std::max(-bound, statistics.min), std::min(bound, statistics.max), scheme);
    if (bound == 0)
        result.notice = fmt::format(
            "{:g} % of the values are 0 or nearly 0, so the range is empty and the scale is 1; raise "
            "percentile",
            100 * part);
    return result;
}

}  // namespace quantloupe
