// SPDX-License-Identifier: Apache-2.0
#include "quantize/calibration/range_history.h"

#include <cmath>

namespace quantloupe {

void RangeHistory::add(float min, float max) {
    ++m_samples;
    if (m_inLast == 0 || m_inLast == m_group) {
        if (m_entries.size() == kMaxEntries) halve();
        m_entries.push_back({min, max});
        m_inLast = 1;
        return;
    }
    Entry& last = m_entries.back();
    ++m_inLast;
    last.min += (static_cast<double>(min) - last.min) / static_cast<double>(m_inLast);
    last.max += (static_cast<double>(max) - last.max) / static_cast<double>(m_inLast);
}

/// Merges neighboring entries. Requires that all entries are full.
void RangeHistory::halve() {
    for (std::size_t i = 0; i < m_entries.size() / 2; ++i) {
        const Entry &a = m_entries[2 * i], &b = m_entries[2 * i + 1];
        m_entries[i] = {(a.min + b.min) / 2, (a.max + b.max) / 2};
    }
    m_entries.resize(m_entries.size() / 2);
    m_group *= 2;
}

std::pair<float, float> RangeHistory::average(double constant) const {
    double min = 0, max = 0, weight = 0;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const double samples = static_cast<double>(i + 1 < m_entries.size() ? m_group : m_inLast);
        weight += samples;
        const double share = i == 0         ? 1.0
                             : constant > 0 ? 1 - std::pow(1 - constant, samples)
                                            : samples / weight;
        min += share * (m_entries[i].min - min);
        max += share * (m_entries[i].max - max);
    }
    return {static_cast<float>(min), static_cast<float>(max)};
}

}  // namespace quantloupe
