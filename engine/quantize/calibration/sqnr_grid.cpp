// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/sqnr_grid.h"

#include <algorithm>
#include <cmath>

namespace quantloupe {

SqnrGrid::SqnrGrid(float min, float max) {
    if (min == max) max = std::max(max, min + 0.01f);
    const float center = (max + min) / 2;
    const float low = center - 3 * (center - min), high = center + 3 * (max - center);
    m_width = (static_cast<double>(high) - static_cast<double>(low)) / kBuckets;
    m_first = std::floor(static_cast<double>(low) / m_width);
    m_perWidth = static_cast<float>(1 / m_width);
}

void SqnrGrid::add(std::span<const float> values) {
    for (const float value : values) {
        const double position = static_cast<double>(value * m_perWidth) - m_first;
        if (position >= 0 && position < kBuckets) ++m_counts[static_cast<std::size_t>(position)];
    }
}

void SqnrGrid::merge(const SqnrGrid& other) {
    for (std::size_t i = 0; i < m_counts.size(); ++i) m_counts[i] += other.m_counts[i];
}

}  // namespace quantloupe
