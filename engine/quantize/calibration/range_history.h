// SPDX-License-Identifier: Apache-2.0
#pragma once
// Minimum and maximum of each sample, in order. Once there are many samples, neighboring ones are averaged to
// bound memory. This does not change the plain mean, and a moving average only slightly.

#include <cstddef>
#include <utility>
#include <vector>

namespace quantloupe {

class RangeHistory {
  public:
    static constexpr std::size_t kMaxEntries = 4096;

    void add(float min, float max);
    std::size_t samples() const { return m_samples; }
    /// Returns the moving average m = (1 - constant) * m + constant * sample, starting with the first sample;
    /// the plain mean if constant is 0.
    std::pair<float, float> average(double constant) const;

  private:
    struct Entry {
        double min = 0, max = 0;
    };
    void halve();

    std::vector<Entry> m_entries;  ///< each is the mean of m_group samples, the last one possibly of fewer
    std::size_t m_group = 1, m_inLast = 0, m_samples = 0;
};

}  // namespace quantloupe
