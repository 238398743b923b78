// SPDX-License-Identifier: Apache-2.0
#include "analysis/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace quantloupe {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Distribution::Distribution(double low, double high, std::size_t bins)
    : m_low(low),
      m_high(high),
      m_bins(bins),
      m_min(std::numeric_limits<float>::infinity()),
      m_max(-std::numeric_limits<float>::infinity()) {
    if (!std::isfinite(low) || !std::isfinite(high) || low > high || bins == 0)
        fail(ErrorKind::Internal, "a histogram from {} to {} with {} bins", low, high, bins);
    if (low == high) {
        m_low -= 0.5;
        m_high += 0.5;
    }
}

void Distribution::add(const float* values, std::size_t count) {
    const double perUnit = static_cast<double>(m_bins.size()) / (m_high - m_low);
    for (std::size_t i = 0; i < count; ++i) {
        const float value = values[i];
        if (!std::isfinite(value)) {
            ++m_notFinite;
            continue;
        }
        ++m_count;
        m_min = std::min(m_min, value);
        m_max = std::max(m_max, value);
        const double x = value;
        m_sum += x;
        m_squares += x * x;
        if (x < m_low)
            ++m_below;
        else if (x > m_high)
            ++m_above;
        else
            ++m_bins[std::min(static_cast<std::size_t>((x - m_low) * perUnit), m_bins.size() - 1)];
    }
}

void Distribution::merge(const Distribution& other) {
    if (other.m_low != m_low || other.m_high != m_high || other.m_bins.size() != m_bins.size())
        fail(ErrorKind::Internal, "histograms of different bins cannot be merged");
    for (std::size_t i = 0; i < m_bins.size(); ++i) m_bins[i] += other.m_bins[i];
    m_below += other.m_below;
    m_above += other.m_above;
    m_notFinite += other.m_notFinite;
    m_count += other.m_count;
    m_min = std::min(m_min, other.m_min);
    m_max = std::max(m_max, other.m_max);
    m_sum += other.m_sum;
    m_squares += other.m_squares;
}

double Distribution::min() const { return m_count == 0 ? kUndefined : static_cast<double>(m_min); }
double Distribution::max() const { return m_count == 0 ? kUndefined : static_cast<double>(m_max); }
double Distribution::mean() const { return m_count == 0 ? kUndefined : m_sum / static_cast<double>(m_count); }

double Distribution::deviation() const {
    if (m_count == 0) return kUndefined;
    return std::sqrt(std::max(0.0, m_squares / static_cast<double>(m_count) - mean() * mean()));
}

}  // namespace quantloupe
