// SPDX-License-Identifier: Apache-2.0
#pragma once
// Distribution of one tensor's values over all calibration samples, in bounded memory (about 150 KiB, and 128
// KiB for tensors with few values). Every calibration method except min_max and moving_average needs it. It
// is collected in a separate pass once the range is known.

#include <mutex>
#include <vector>

#include "base/version.h"
#include "quantize/calibration/histogram.h"
#include "quantize/calibration/sqnr_grid.h"

namespace quantloupe {

struct ValueDistribution {
    /// Enough for 8192 bins of magnitudes or of values, the most that can be chosen.
    static constexpr std::size_t kSymmetricBins = 16384, kRangeBins = 8192;
    static constexpr std::size_t kTail = 1024;
    static constexpr std::size_t kMaxSamples = 32768;

    Histogram symmetric;  ///< over [-absmax, absmax]
    Histogram range;      ///< over [min, max]
    SqnrGrid grid;
    /// Up to kTail of the largest (descending) and smallest (ascending) values.
    std::vector<float> largest, smallest;
    /// All values in ascending order if there are at most kMaxSamples; otherwise empty.
    std::vector<float> samples;
    /// Number of values exactly at the ends and at 0, where activations like Relu and Clip put much of the
    /// mass.
    std::uint64_t atMin = 0, atZero = 0, atMax = 0;
    std::uint64_t count = 0;
    float min = 0, max = 0;
    Version version;

    /// Returns the k-th largest (smallest) value, k from 1: exact within the tail, otherwise interpolated in
    /// `range`.
    float kthLargest(std::uint64_t k) const;
    float kthSmallest(std::uint64_t k) const;
};

/// Collects a distribution. add() may be called from any thread and in any order; the result is the same.
class DistributionGatherer {
  public:
    /// Takes the range of all values that will be added, the range of the first sample that is not all zero,
    /// and the number of values that will be added.
    DistributionGatherer(float min, float max, float firstMin, float firstMax, std::uint64_t count);

    void add(std::span<const float> values);
    ValueDistribution finish();

  private:
    std::mutex m_mutex;
    ValueDistribution m_result;
    bool m_keepSamples;
    float m_largestBound, m_smallestBound;  ///< values within these bounds cannot be in the tails
    void trimTails();
};

}  // namespace quantloupe
