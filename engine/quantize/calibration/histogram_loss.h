// SPDX-License-Identifier: Apache-2.0
#pragma once
// The squared error that a quantizer would make, from a histogram. Values are taken as uniform within their bin, over which
// the error is integrated in closed form: right also where a bin spans many codes. What lies exactly at the ends and at 0 counts
// as the single value that it is.

#include <optional>
#include <vector>

#include "quantize/calibration/value_distribution.h"

namespace quantloupe {

/// x -> round(clamp(x, low, high) / scale) * scale. Where low and high are no multiples of scale, the clamped value is rounded, too.
struct RoundingGrid {
    double scale = 1;
    double low = 0, high = 0;
    double apply(double x) const;
};

class HistogramLoss {
  public:
    explicit HistogramLoss(const ValueDistribution& distribution);
    /// Mean over all values.
    double operator()(const RoundingGrid& grid) const;

  private:
    struct Bin {
        double left, right, count;
    };
    std::vector<Bin> m_bins;                            ///< that are not empty
    std::vector<std::pair<double, double>> m_points;    ///< value, count
    double m_count = 0;
};

}  // namespace quantloupe
