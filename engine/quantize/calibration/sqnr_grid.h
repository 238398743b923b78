// SPDX-License-Identifier: Apache-2.0
#pragma once
// The histogram that AIMET's TF-enhanced method looks at: 512 buckets over three times the range of the first sample, each
// holding what is nearest to its left edge; what lies beyond is dropped.

#include <array>
#include <cstdint>
#include <span>

namespace quantloupe {

class SqnrGrid {
  public:
    static constexpr int kBuckets = 512;

    SqnrGrid() = default;
    /// From the smallest and largest value of the first sample (that is not all zero).
    SqnrGrid(float min, float max);

    bool empty() const { return m_width == 0; }
    void add(std::span<const float> values);
    void merge(const SqnrGrid& other);

    double left(int bucket) const { return m_left[static_cast<std::size_t>(bucket)]; }
    /// Of the values that fell on the grid.
    std::uint64_t count(int bucket) const { return m_counts[static_cast<std::size_t>(bucket)]; }

  private:
    std::array<double, kBuckets> m_left{};
    std::array<std::uint64_t, kBuckets> m_counts{};
    float m_width = 0, m_offset = 0;
};

}  // namespace quantloupe
