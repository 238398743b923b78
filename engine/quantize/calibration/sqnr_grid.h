// SPDX-License-Identifier: Apache-2.0
#pragma once
// The histogram of AIMET's TF-enhanced method: 512 buckets over three times the range of the first sample. A
// value is counted in the bucket whose left edge is nearest; values outside the buckets are dropped.

#include <array>
#include <cstdint>
#include <span>

namespace quantloupe {

class SqnrGrid {
  public:
    static constexpr int kBuckets = 512;

    SqnrGrid() = default;
    /// Takes the smallest and largest value of the first sample that is not all zero.
    SqnrGrid(float min, float max);

    bool empty() const { return m_width == 0; }
    void add(std::span<const float> values);
    void merge(const SqnrGrid& other);

    double left(int bucket) const { return m_left[static_cast<std::size_t>(bucket)]; }
    /// Number of values in a bucket.
    std::uint64_t count(int bucket) const { return m_counts[static_cast<std::size_t>(bucket)]; }

  private:
    std::array<double, kBuckets> m_left{};
    std::array<std::uint64_t, kBuckets> m_counts{};
    float m_width = 0, m_offset = 0;
};

}  // namespace quantloupe
