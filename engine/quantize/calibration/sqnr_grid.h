// SPDX-License-Identifier: Apache-2.0
#pragma once
// The histogram of AIMET's TF-enhanced method: 1536 buckets over three times the range of the first sample,
// 512 of them in that range. Their edges are multiples of the bucket width; values outside the buckets are
// dropped. Measured on the released aimet-onnx 2.42 through its get_stats_histogram(): equal to the last bit.

#include <array>
#include <cstdint>
#include <span>

namespace quantloupe {

class SqnrGrid {
  public:
    static constexpr int kBuckets = 1536;

    SqnrGrid() = default;
    /// Takes the smallest and largest value of the first sample that is not all zero.
    SqnrGrid(float min, float max);

    bool empty() const { return m_width == 0; }
    void add(std::span<const float> values);
    void merge(const SqnrGrid& other);

    /// Left edge of a bucket.
    double left(int bucket) const { return (m_first + bucket) * m_width; }
    /// Number of values in a bucket.
    std::uint64_t count(int bucket) const { return m_counts[static_cast<std::size_t>(bucket)]; }

  private:
    std::array<std::uint64_t, kBuckets> m_counts{};
    double m_width = 0, m_first = 0;  ///< the first bucket begins at m_first * m_width
    float m_perWidth = 0;             ///< buckets per unit
};

}  // namespace quantloupe
