// SPDX-License-Identifier: Apache-2.0
#pragma once
// Distribution of a tensor's values: histogram over a known range and moments, streamed and mergeable. Memory
// does not grow with the number of values.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quantloupe {

class Distribution {
  public:
    /// Creates `bins` equal bins from `low` to `high`, in the tensor's unit. Each includes its lower edge,
    /// the last also its upper edge (numpy's convention; a value within a rounding error of an edge may fall
    /// to either side). A range of width 0 is widened by 0.5 on both sides. Throws Error if the range is
    /// reversed or not finite, or without bins.
    Distribution(double low, double high, std::size_t bins);

    /// Adds values. NaN and infinities are only counted in notFinite().
    void add(const float* values, std::size_t count);
    /// Adds another distribution. Throws Error unless range and bins are the same.
    void merge(const Distribution& other);

    double low() const { return m_low; }
    double high() const { return m_high; }
    const std::vector<std::uint64_t>& bins() const { return m_bins; }
    std::uint64_t below() const { return m_below; }  ///< values below the range
    std::uint64_t above() const { return m_above; }
    std::uint64_t notFinite() const { return m_notFinite; }

    // The following are of all finite values, including those outside the range. Without values, min, max,
    // mean and deviation are NaN.
    std::uint64_t count() const { return m_count; }
    double min() const;
    double max() const;
    double mean() const;
    double deviation() const;  ///< standard deviation of the population, from the sums of squares

  private:
    double m_low, m_high;
    std::vector<std::uint64_t> m_bins;
    std::uint64_t m_below = 0, m_above = 0, m_notFinite = 0, m_count = 0;
    float m_min, m_max;
    double m_sum = 0, m_squares = 0;
};

}  // namespace quantloupe
