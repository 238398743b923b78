// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts of values in bins of equal width over a fixed range. Memory does not depend on the number of values,
// and the counts do not depend on their order.

#include <cstdint>
#include <span>
#include <vector>

namespace quantloupe {

class Histogram {
  public:
    Histogram() = default;
    /// Creates `bins` bins from `low` to `high`. If both are equal, the range is widened by 0.5 on each side.
    /// The edges are float32, computed as numpy.linspace does, and a value belongs to the bin whose edges
    /// enclose it (the last bin includes its upper edge), so the counts equal those of numpy.histogram.
    Histogram(float low, float high, std::size_t bins);

    /// Adds values; those outside the range are ignored.
    void add(std::span<const float> values);
    /// Adds the counts of another histogram with the same range and number of bins.
    void merge(const Histogram& other);
    /// Merges neighboring bins; `bins` must divide bins(). If both are powers of two, this is exactly the
    /// histogram that would have been built with fewer bins.
    Histogram coarsened(std::size_t bins) const;
    /// Returns the histogram of |x| from 0 to high(). Requires a range symmetric around 0 and an even number
    /// of bins.
    Histogram folded() const;

    bool empty() const { return m_counts.empty(); }
    std::size_t bins() const { return m_counts.size(); }
    float edge(std::size_t i) const {
        if (i == m_counts.size()) return m_high;
        const float offset = static_cast<float>(i) * m_step;  // two roundings, as NumPy does it
        return offset + m_low;
    }
    float low() const { return m_low; }
    float high() const { return m_high; }
    const std::vector<std::uint64_t>& counts() const { return m_counts; }
    std::uint64_t total() const;
    /// Returns the bin of a value within the range.
    std::size_t binOf(float value) const;
    /// Removes `count` occurrences of a value that were added before.
    void remove(float value, std::uint64_t count) { m_counts[binOf(value)] -= count; }

  private:
    std::vector<std::uint64_t> m_counts;
    float m_low = 0, m_high = 0, m_step = 0, m_perWidth = 0;
};

}  // namespace quantloupe
