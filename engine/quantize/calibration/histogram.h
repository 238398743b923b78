// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts of values in bins of equal width over a fixed range. Its memory does not depend on how many values are added, nor its
// contents on their order.

#include <cstdint>
#include <span>
#include <vector>

namespace quantloupe {

class Histogram {
  public:
    Histogram() = default;
    /// `bins` from `low` to `high`; where both are equal, half a unit around them. The edges are float32, computed as NumPy's
    /// linspace does, and a value belongs to the bin whose edges enclose it (the last bin holds its upper edge, too), so that the
    /// counts are numpy.histogram's.
    Histogram(float low, float high, std::size_t bins);

    /// Values beyond the range are left out.
    void add(std::span<const float> values);
    /// Of the same range and number of bins.
    void merge(const Histogram& other);
    /// Neighbouring bins added together; `bins` must divide bins(). For powers of two this is exactly the histogram that would
    /// have been made with fewer bins.
    Histogram coarsened(std::size_t bins) const;
    /// Counts over |x| from 0 to the upper end; for a range around 0 and an even number of bins.
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
    /// The bin of a value within the range.
    std::size_t binOf(float value) const;
    /// Takes `count` values away that were added.
    void remove(float value, std::uint64_t count) { m_counts[binOf(value)] -= count; }

  private:
    std::vector<std::uint64_t> m_counts;
    float m_low = 0, m_high = 0, m_step = 0, m_perWidth = 0;
};

}  // namespace quantloupe
