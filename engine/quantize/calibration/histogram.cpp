// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/histogram.h"

#include <numeric>

namespace quantloupe {

Histogram::Histogram(float low, float high, std::size_t bins) : m_counts(bins, 0) {
    if (low == high) {
        low -= 0.5f;
        high += 0.5f;
    }
    const float step = (high - low) / static_cast<float>(bins);
    m_edges.resize(bins + 1);
    for (std::size_t i = 0; i < bins; ++i) {
        const float offset = static_cast<float>(i) * step;  // two roundings, as NumPy does it
        m_edges[i] = offset + low;
    }
    m_edges[bins] = high;
    m_perWidth = static_cast<float>(bins) / (high - low);
}

std::size_t Histogram::binOf(float value) const {
    const float position = (value - m_edges.front()) * m_perWidth;
    std::size_t bin = std::min(static_cast<std::size_t>(std::max(position, 0.0f)), m_counts.size() - 1);
    const float inside = position - static_cast<float>(bin);
    if (inside < 0.02f || inside > 0.98f) {  // rounding may have chosen the neighbour
        while (bin > 0 && value < m_edges[bin]) --bin;
        while (bin + 1 < m_counts.size() && value >= m_edges[bin + 1]) ++bin;
    }
    return bin;
}

void Histogram::add(std::span<const float> values) {
    const float low = m_edges.front(), high = m_edges.back();
    for (const float value : values)
        if (value >= low && value <= high) ++m_counts[binOf(value)];
}

void Histogram::merge(const Histogram& other) {
    for (std::size_t i = 0; i < m_counts.size(); ++i) m_counts[i] += other.m_counts[i];
}

Histogram Histogram::coarsened(std::size_t bins) const {
    Histogram result;
    const std::size_t factor = m_counts.size() / bins;
    result.m_counts.assign(bins, 0);
    for (std::size_t i = 0; i < bins * factor; ++i) result.m_counts[i / factor] += m_counts[i];
    for (std::size_t i = 0; i <= bins; ++i) result.m_edges.push_back(m_edges[i * factor]);
    result.m_perWidth = m_perWidth / static_cast<float>(factor);
    return result;
}

Histogram Histogram::folded() const {
    const std::size_t half = m_counts.size() / 2;
    Histogram result;
    result.m_edges.assign(m_edges.begin() + static_cast<std::ptrdiff_t>(half), m_edges.end());
    result.m_counts.assign(m_counts.begin() + static_cast<std::ptrdiff_t>(half), m_counts.end());
    for (std::size_t i = 0; i < half; ++i) result.m_counts[half - 1 - i] += m_counts[i];
    result.m_perWidth = m_perWidth;
    return result;
}

std::uint64_t Histogram::total() const { return std::accumulate(m_counts.begin(), m_counts.end(), std::uint64_t{0}); }

}  // namespace quantloupe
