// SPDX-License-Identifier: Apache-2.0
#pragma once
// The minimum and maximum of each sample, in order. Beyond a number of samples neighbours are averaged, so that memory stays
// bounded; the plain mean is not changed by that, and a moving average hardly.

#include <cstddef>
#include <utility>
#include <vector>

namespace quantloupe {

class RangeHistory {
  public:
    static constexpr std::size_t kMostEntries = 4096;

    void add(float min, float max);
    std::size_t samples() const { return m_samples; }
    /// m = (1 - constant) * m + constant * sample, from the first sample on; the plain mean for constant 0.
    std::pair<float, float> average(double constant) const;

  private:
    struct Entry {
        double min = 0, max = 0;
    };
    void halve();

    std::vector<Entry> m_entries;  ///< each the mean of m_group samples, the last perhaps of fewer
    std::size_t m_group = 1, m_inLast = 0, m_samples = 0;
};

}  // namespace quantloupe
