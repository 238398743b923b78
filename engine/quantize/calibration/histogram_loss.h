// SPDX-License-Identifier: Apache-2.0
#pragma once
// Squared error of a quantizer, estimated from a histogram. Values are assumed to be uniform within their
// bin, and the error is integrated over the bin in closed form, which is also correct if a bin spans many
// codes. Values exactly at the ends and at 0 are treated as points.

#include <vector>

#include "quantize/calibration/value_distribution.h"

namespace quantloupe {

/// x -> round(clamp(x, low, high) / scale) * scale. The clamped value is rounded even if low and high are not
/// multiples of scale.
struct RoundingGrid {
    double scale = 1;
    double low = 0, high = 0;
    double apply(double x) const;
};

class HistogramLoss {
  public:
    explicit HistogramLoss(const ValueDistribution& distribution);
    /// Returns the mean squared error over all values.
    double operator()(const RoundingGrid& grid) const;

  private:
    struct Bin {
        double left, right, count;
    };
    std::vector<Bin> m_bins;                          ///< non-empty bins only
    std::vector<std::pair<double, double>> m_points;  ///< value, count
    double m_count = 0;
};

}  // namespace quantloupe
