// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/histogram.h"

#include <algorithm>
#include <numeric>

#include "runtime/simd.h"

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

namespace {

/// Number of values processed at a time; their bins fit into the L1 cache.
constexpr std::size_t kBlock = 1024;

struct Axis {
    float low, high, step, perWidth;
    std::int32_t last;
};

// An edge is a product and a sum that are rounded separately, as in NumPy; a fused multiply-add would differ.
#if defined(__GNUC__) && !defined(__clang__)
#define QUANTLOUPE_NO_FUSION __attribute__((optimize("fp-contract=off")))
#else
#define QUANTLOUPE_NO_FUSION
#endif

/// Finds the bin of each value, -1 outside the range. Rounding can make the first guess off by one, so it is
/// compared with the edges.
QUANTLOUPE_SIMD QUANTLOUPE_NO_FUSION void findBins(const float* values, std::size_t count, const Axis& axis,
                                                   std::int32_t* bins) {
    const float low = axis.low, high = axis.high, step = axis.step, perWidth = axis.perWidth;
    const std::int32_t last = axis.last;
    const float lastBin = static_cast<float>(last);
    for (std::size_t i = 0; i < count; ++i) {
        const float x = values[i];
        float guess = (x - low) * perWidth;
        guess = guess > 0 ? guess : 0;
        guess = guess < lastBin ? guess : lastBin;
        std::int32_t bin = static_cast<std::int32_t>(guess);
        const float left = static_cast<float>(bin) * step;
        const float right = static_cast<float>(bin + 1) * step;
        const std::int32_t below = x < left + low ? 1 : 0, above = x >= right + low ? 1 : 0;
        bin += above - below;
        bin = bin < 0 ? 0 : bin;
        bin = bin > last ? last : bin;
        const std::int32_t outside = (x < low ? 1 : 0) | (x > high ? 1 : 0);
        bins[i] = bin | -outside;
    }
}

}  // namespace

std::size_t Histogram::binOf(float value) const {
    std::int32_t bin = 0;
    findBins(&value, 1, {m_low, m_high, m_step, m_perWidth, static_cast<std::int32_t>(m_counts.size()) - 1},
             &bin);
    return static_cast<std::size_t>(std::max(bin, 0));
}

void Histogram::add(std::span<const float> values) {
    std::int32_t bins[kBlock];
    const Axis axis{m_low, m_high, m_step, m_perWidth, static_cast<std::int32_t>(m_counts.size()) - 1};
    std::uint64_t* counts = m_counts.data();
    for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
        const std::size_t count = std::min(kBlock, values.size() - begin);
        findBins(values.data() + begin, count, axis, bins);
        for (std::size_t i = 0; i < count; ++i)
            if (bins[i] >= 0) ++counts[bins[i]];
    }
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

std::uint64_t Histogram::total() const {
    return std::accumulate(m_counts.begin(), m_counts.end(), std::uint64_t{0});
}

}  // namespace quantloupe
