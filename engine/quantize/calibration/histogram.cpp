// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/histogram.h"

#include <numeric>

namespace quantloupe {

Histogram::Histogram(float low, float high, std::size_t bins) : m_counts(bins, 0) {
    if (low == high) {
        low -= 0.5f;
        high += 0.5f;
    }
    m_low = low;
    m_high = high;
    m_step = (high - low) / static_cast<float>(bins);
    m_perWidth = static_cast<float>(bins) / (high - low);
}

std::size_t Histogram::binOf(float value) const {
    const float position = (value - m_low) * m_perWidth;
    std::size_t bin = std::min(static_cast<std::size_t>(std::max(position, 0.0f)), m_counts.size() - 1);
    const float inside = position - static_cast<float>(bin);
    if (inside < 0.02f || inside > 0.98f) {  // rounding may have chosen the neighbour
        while (bin > 0 && value < edge(bin)) --bin;
        while (bin + 1 < m_counts.size() && value >= edge(bin + 1)) ++bin;
    }
    return bin;
}

void Histogram::add(std::span<const float> values) {
    for (const float value : values)
        if (value >= m_low && value <= m_high) ++m_counts[binOf(value)];
}

void Histogram::merge(const Histogram& other) {
    for (std::size_t i = 0; i < m_counts.size(); ++i) m_counts[i] += other.m_counts[i];
}

Histogram Histogram::coarsened(std::size_t bins) const {
    Histogram result;
    const std::size_t factor = m_counts.size() / bins;
    result.m_counts.assign(bins, 0);
    for (std::size_t i = 0; i < bins * factor; ++i) result.m_counts[i / factor] += m_counts[i];
    result.m_low = m_low;
    result.m_high = m_high;
    result.m_step = m_step * static_cast<float>(factor);
    result.m_perWidth = m_perWidth / static_cast<float>(factor);
    return result;
}

Histogram Histogram::folded() const {
    const std::size_t half = m_counts.size() / 2;
    Histogram result;
    result.m_low = edge(half);
    result.m_high = m_high;
    result.m_step = m_step;
    result.m_counts.assign(m_counts.begin() + static_cast<std::ptrdiff_t>(half), m_counts.end());
    for (std::size_t i = 0; i < half; ++i) result.m_counts[half - 1 - i] += m_counts[i];
    result.m_perWidth = m_perWidth;
    return result;
}

std::uint64_t Histogram::total() const { return std::accumulate(m_counts.begin(), m_counts.end(), std::uint64_t{0}); }

}  // namespace quantloupe
