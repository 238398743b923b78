// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/value_distribution.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "runtime/simd.h"

namespace quantloupe {
namespace {

constexpr std::size_t kTail = ValueDistribution::kTail;

/// Returns the `rank`-th smallest value, interpolated linearly within its bin.
float interpolated(const Histogram& histogram, std::uint64_t rank) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram.bins(); ++i) {
        const std::uint64_t here = histogram.counts()[i];
        if (here > 0 && below + here >= rank) {
            const double part = (static_cast<double>(rank - below) - 0.5) / static_cast<double>(here);
            const double left = histogram.edge(i), right = histogram.edge(i + 1);
            return static_cast<float>(left + part * (right - left));
        }
        below += here;
    }
    return histogram.high();
}

struct Bounds {
    float min, max, largest, smallest;
};

struct BlockCounts {
    std::uint32_t atMin = 0, atZero = 0, atMax = 0, inTail = 0;
};

QUANTLOUPE_SIMD BlockCounts countBlock(const float* values, std::size_t count, const Bounds& bounds) {
    BlockCounts counts;
    for (std::size_t i = 0; i < count; ++i) {
        const float x = values[i];
        counts.atMin += x == bounds.min ? 1u : 0u;
        counts.atZero += x == 0 ? 1u : 0u;
        counts.atMax += x == bounds.max ? 1u : 0u;
        counts.inTail += (x > bounds.largest ? 1u : 0u) + (x < bounds.smallest ? 1u : 0u);
    }
    return counts;
}

template <typename Before>
void keepFirst(std::vector<float>& values, Before before) {
    if (values.size() > kTail) {
        std::nth_element(values.begin(), values.begin() + kTail - 1, values.end(), before);
        values.resize(kTail);
    }
}

}  // namespace

float ValueDistribution::kthLargest(std::uint64_t k) const {
    if (k <= largest.size()) return largest[k - 1];
    if (!samples.empty()) return samples[samples.size() - k];
    return interpolated(range, count - k + 1);
}

float ValueDistribution::kthSmallest(std::uint64_t k) const {
    if (k <= smallest.size()) return smallest[k - 1];
    if (!samples.empty()) return samples[k - 1];
    return interpolated(range, k);
}

DistributionGatherer::DistributionGatherer(float min, float max, float firstMin, float firstMax,
                                           std::uint64_t count)
    : m_keepSamples(count <= ValueDistribution::kMaxSamples),
      m_largestBound(-std::numeric_limits<float>::infinity()),
      m_smallestBound(std::numeric_limits<float>::infinity()) {
    const float absmax = std::max(std::fabs(min), std::fabs(max));
    m_result.symmetric = Histogram(-absmax, absmax, ValueDistribution::kSymmetricBins);
    m_result.range = Histogram(min, max, ValueDistribution::kRangeBins);
    if (firstMin != 0 || firstMax != 0) m_result.grid = SqnrGrid(firstMin, firstMax);
    m_result.min = min;
    m_result.max = max;
}

void DistributionGatherer::trimTails() {
    keepFirst(m_result.largest, std::greater<>());
    keepFirst(m_result.smallest, std::less<>());
    if (m_result.largest.size() == kTail) m_largestBound = *std::ranges::min_element(m_result.largest);
    if (m_result.smallest.size() == kTail) m_smallestBound = *std::ranges::max_element(m_result.smallest);
}

void DistributionGatherer::add(std::span<const float> values) {
    const std::lock_guard lock(m_mutex);
    ValueDistribution& result = m_result;
    result.symmetric.add(values);
    result.range.add(values);
    if (!result.grid.empty()) result.grid.add(values);
    constexpr std::size_t kValueBlock = 512;
    for (std::size_t begin = 0; begin < values.size(); begin += kValueBlock) {
        const auto block = values.subspan(begin, std::min(kValueBlock, values.size() - begin));
        const BlockCounts counts =
            countBlock(block.data(), block.size(), {result.min, result.max, m_largestBound, m_smallestBound});
        result.atMin += counts.atMin;
        result.atZero += counts.atZero;
        result.atMax += counts.atMax;
        if (counts.inTail == 0) continue;
        for (const float x : block) {
            if (x > m_largestBound) result.largest.push_back(x);
            if (x < m_smallestBound) result.smallest.push_back(x);
        }
        if (result.largest.size() >= 4 * kTail || result.smallest.size() >= 4 * kTail) trimTails();
    }
    result.count += values.size();
    if (m_keepSamples) result.samples.insert(result.samples.end(), values.begin(), values.end());
}

ValueDistribution DistributionGatherer::finish() {
    trimTails();
    std::ranges::sort(m_result.largest, std::greater<>());
    std::ranges::sort(m_result.smallest);
    // How much was reserved depends on the order of the threads, and the limits of caches must not.
    m_result.largest.shrink_to_fit();
    m_result.smallest.shrink_to_fit();
    if (m_result.samples.size() != m_result.count) m_result.samples.clear();
    std::ranges::sort(m_result.samples);
    m_result.samples.shrink_to_fit();
    VersionBuilder builder;
    const auto add = [&](const auto& values) {
        builder.addBytes(values.data(), values.size() * sizeof values[0]);
    };
    add(m_result.symmetric.counts());
    add(m_result.range.counts());
    for (int i = 0; i < SqnrGrid::kBuckets && !m_result.grid.empty(); ++i)
        builder.add(m_result.grid.left(i)).add(m_result.grid.count(i));
    add(m_result.largest);
    add(m_result.smallest);
    add(m_result.samples);
    builder.add(m_result.min).add(m_result.max).add(m_result.atMin).add(m_result.atZero).add(m_result.atMax);
    m_result.version = builder.finish();
    return std::move(m_result);
}

}  // namespace quantloupe
