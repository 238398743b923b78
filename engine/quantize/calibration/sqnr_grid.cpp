// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/sqnr_grid.h"

#include <cmath>

namespace quantloupe {

SqnrGrid::SqnrGrid(float min, float max) {
    if (min == max) max = std::max(max, min + 0.01f);
    const float center = (max + min) / 2;
    const float low = center - 3 * (center - min), high = center + 3 * (max - center);
    const float width = (high - low) / static_cast<float>(kBuckets);
    for (int i = 0; i < kBuckets; ++i)
        m_left[static_cast<std::size_t>(i)] = low + static_cast<float>(i) * width;
    m_width = static_cast<float>(m_left[1] - m_left[0]);
    m_offset = static_cast<float>(m_left[0]) / m_width;
}

void SqnrGrid::add(std::span<const float> values) {
    for (const float value : values) {
        const float position = value / m_width - m_offset;
        if (!(position > -0.5f && position < static_cast<float>(kBuckets))) continue;
        auto bucket = static_cast<std::int32_t>(position);  // truncated: -0.5 to 0 is bucket 0
        if (position - static_cast<float>(bucket) >= 0.5f) ++bucket;
        if (bucket < kBuckets) ++m_counts[static_cast<std::size_t>(bucket)];
    }
}

void SqnrGrid::merge(const SqnrGrid& other) {
    for (std::size_t i = 0; i < m_counts.size(); ++i) m_counts[i] += other.m_counts[i];
}

}  // namespace quantloupe
