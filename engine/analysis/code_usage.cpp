// SPDX-License-Identifier: Apache-2.0
#include "analysis/code_usage.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace quantloupe {

CodeUsage::CodeUsage(const FakeQuant& quant) : m_quant(quant) {
    constexpr float kMaxCodes = 65536;
    const float codes = quant.high - quant.low + 1;
    if (!(codes >= 1 && codes <= kMaxCodes) || !(quant.scale > 0) || !std::isfinite(quant.scale))
        fail(ErrorKind::Internal, "codes from {} to {} with scale {} cannot be counted", quant.low,
             quant.high, quant.scale);
    m_counts.resize(static_cast<std::size_t>(codes));
}

void CodeUsage::add(const float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const float exact = values[i] / m_quant.scale;
        if (std::isnan(exact)) continue;
        ++m_count;
        const float nearest = std::nearbyint(exact);
        if (nearest < m_quant.low || nearest > m_quant.high) ++m_clipped;
        ++m_counts[static_cast<std::size_t>(codeOf(m_quant, values[i]) - m_quant.low)];
    }
}

void CodeUsage::addCodes(std::span<const std::int32_t> codes, std::int32_t zeroPoint) {
    const auto low = static_cast<std::int64_t>(m_quant.low), high = static_cast<std::int64_t>(m_quant.high);
    for (const std::int32_t stored : codes) {
        const std::int64_t code = std::int64_t{stored} - zeroPoint;
        ++m_count;
        if (code < low || code > high) ++m_clipped;
        ++m_counts[static_cast<std::size_t>(std::clamp(code, low, high) - low)];
    }
}

void CodeUsage::merge(const CodeUsage& other) {
    if (!(other.m_quant == m_quant))
        fail(ErrorKind::Internal, "codes of different quantizers cannot be merged");
    for (std::size_t i = 0; i < m_counts.size(); ++i) m_counts[i] += other.m_counts[i];
    m_count += other.m_count;
    m_clipped += other.m_clipped;
}

double CodeUsage::clippedFraction() const {
    return m_count == 0 ? 0 : static_cast<double>(m_clipped) / static_cast<double>(m_count);
}

std::size_t CodeUsage::distinctCodes() const {
    return static_cast<std::size_t>(
        std::count_if(m_counts.begin(), m_counts.end(), [](std::uint64_t n) { return n > 0; }));
}

double CodeUsage::effectiveBits() const {
    const std::size_t codes = distinctCodes();
    return codes == 0 ? 0 : std::log2(static_cast<double>(codes));
}

}  // namespace quantloupe
