// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the values of one tensor are distributed over all calibration samples, in bounded memory (about 150 KiB, and 128 KiB for tensors of few values): what every
// calibration method but min_max and moving_average needs. Gathered in a pass of its own, when the range is known.

#include <mutex>
#include <vector>

#include "base/version.h"
#include "quantize/calibration/histogram.h"
#include "quantize/calibration/sqnr_grid.h"

namespace quantloupe {

struct ValueDistribution {
    static constexpr std::size_t kSymmetricBins = 8192, kRangeBins = 8192;
    static constexpr std::size_t kTail = 1024;
    static constexpr std::size_t kMostSamples = 32768;

    Histogram symmetric;  ///< over [-absmax, absmax]
    Histogram range;      ///< over [min, max]
    SqnrGrid grid;
    /// The largest (falling) and smallest (rising) values, up to kTail.
    std::vector<float> largest, smallest;
    /// All values, rising, where there are no more than kMostSamples; otherwise empty.
    std::vector<float> samples;
    /// Exactly at the ends and at 0: activations like Relu and Clip put much of the mass there.
    std::uint64_t atMin = 0, atZero = 0, atMax = 0;
    std::uint64_t count = 0;
    float min = 0, max = 0;
    Version version;

    /// The k-th largest (smallest) value, k from 1; exact within the tail, otherwise interpolated in `range`.
    float kthLargest(std::uint64_t k, bool* exact = nullptr) const;
    float kthSmallest(std::uint64_t k, bool* exact = nullptr) const;
};

/// Collects a distribution; add() may come from any thread and in any order: the result is the same.
class DistributionGatherer {
  public:
    /// The range of all values that will come and of the first sample that is not all zero; how many values will come.
    DistributionGatherer(float min, float max, float firstMin, float firstMax, std::uint64_t count);

    void add(std::span<const float> values);
    ValueDistribution finish();

  private:
    std::mutex m_mutex;
    ValueDistribution m_result;
    bool m_keepSamples;
    float m_largestBound, m_smallestBound;  ///< what is not beyond cannot be in the tail
    void trimTails();
};

}  // namespace quantloupe
