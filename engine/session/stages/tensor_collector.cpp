// SPDX-License-Identifier: Apache-2.0
#include "session/stages/tensor_collector.h"

#include <algorithm>
#include <cmath>

#include "analysis/channel_layout.h"

namespace quantloupe {
namespace {

int bitsOf(int quantMin, int quantMax) {
    return static_cast<int>(std::ceil(std::log2(quantMax - quantMin + 1)));
}

void setCodes(TensorDetails& details, const CodeUsage& usage) {
    details.distinctCodes = usage.distinctCodes();
    details.effectiveBits = usage.effectiveBits();
}

}  // namespace

void FiniteRange::add(const float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (!std::isfinite(values[i])) continue;
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
    }
}

void FiniteRange::merge(const FiniteRange& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
}

Distribution FiniteRange::distribution(std::size_t bins) const {
    return low > high ? Distribution(0, 0, bins) : Distribution(low, high, bins);
}

TensorDetails weightDetails(const Graph& graph, const Unit& unit, const ConstantQuantizer& quantizer,
                            std::size_t bins) {
    const Constant& weight = *graph.constantOf(unit.weight);
    const auto floats = weight.floats(), rounded = quantizer.dequantized->floats();
    FiniteRange range;
    range.add(floats.data(), floats.size());
    range.add(rounded.data(), rounded.size());
    TensorDetails details{graph.tensor(unit.weight).name, range.distribution(bins), range.distribution(bins)};
    details.floating.add(floats.data(), floats.size());
    details.quantized.add(rounded.data(), rounded.size());
    details.bits = bitsOf(quantizer.quantMin, quantizer.quantMax);
    const std::size_t channels = quantizer.scales.size();
    if (channels == 1) {
        details.scale = quantizer.scales[0];
        details.zeroPoint = quantizer.zeroPoints[0];
    }
    const ChannelLayout layout = channelLayout(weight.dims(), unit.weightAxis);
    const auto channelOf = [&](std::size_t i) {
        return channels == 1 ? 0 : i / layout.inner % layout.channels;
    };
    std::vector<char> used(channels, 0);  // the scale of a channel of zeros means nothing
    for (std::size_t i = 0; i < floats.size(); ++i)
        if (floats[i] != 0) used[channelOf(i)] = 1;
    for (std::size_t c = 0; c < channels; ++c) {
        if (!used[c]) continue;
        const double scale = static_cast<double>(quantizer.scales[c]);
        details.clipLow = std::min(details.clipLow, scale * (quantizer.quantMin - quantizer.zeroPoints[c]));
        details.clipHigh = std::max(details.clipHigh, scale * (quantizer.quantMax - quantizer.zeroPoints[c]));
    }

    const FakeQuant codes{1, static_cast<float>(quantizer.quantMin), static_cast<float>(quantizer.quantMax)};
    CodeUsage stored(codes), unclipped(codes);
    for (std::size_t i = 0; i < floats.size(); ++i) {
        const std::size_t channel = channelOf(i);
        const int zeroPoint = quantizer.zeroPoints[channel];
        const std::int32_t code = quantizer.codes[i];
        stored.addCodes({&code, 1}, -zeroPoint);
        const float steps = floats[i] / quantizer.scales[channel] + static_cast<float>(zeroPoint);
        unclipped.add(&steps, 1);
    }
    setCodes(details, stored);
    details.clippedFraction = unclipped.clippedFraction();
    return details;
}

ActivationCollector::ActivationCollector(std::string name, const std::optional<TensorQuantizer>& quantizer,
                                         std::size_t chunks, std::size_t workers)
    : m_name(std::move(name)), m_quantizer(quantizer), m_ranges(chunks) {
    if (quantizer && quantizer->half) m_quantizer.reset();  // float16 has no codes
    if (m_quantizer) m_usage.assign(workers, CodeUsage(quantizer->fakeQuant()));
}

void ActivationCollector::addRange(std::size_t chunk, const float* floating, const float* quantized,
                                   std::size_t count) {
    m_ranges[chunk].add(floating, count);
    m_ranges[chunk].add(quantized, count);
}

void ActivationCollector::startCounting(std::size_t bins) {
    FiniteRange range;
    for (const FiniteRange& chunk : m_ranges) range.merge(chunk);
    m_floating.assign(m_ranges.size(), range.distribution(bins));
    m_quantized = m_floating;
}

void ActivationCollector::count(std::size_t chunk, std::size_t worker, const float* floating,
                                const float* quantized, std::size_t count) {
    m_floating[chunk].add(floating, count);
    m_quantized[chunk].add(quantized, count);
    if (m_quantizer) m_usage[worker].add(floating, count);
}

TensorDetails ActivationCollector::result() {
    for (std::size_t chunk = 1; chunk < m_floating.size(); ++chunk) {
        m_floating[0].merge(m_floating[chunk]);
        m_quantized[0].merge(m_quantized[chunk]);
    }
    TensorDetails details{m_name, m_floating[0], m_quantized[0]};
    if (!m_quantizer) return details;
    for (std::size_t w = 1; w < m_usage.size(); ++w) m_usage[0].merge(m_usage[w]);
    details.bits = bitsOf(m_quantizer->quantMin, m_quantizer->quantMax);
    const FakeQuant quant = m_quantizer->fakeQuant();
    details.scale = quant.scale;
    details.zeroPoint = m_quantizer->zeroPoint;
    details.clipLow = static_cast<double>(quant.scale) * static_cast<double>(quant.low);
    details.clipHigh = static_cast<double>(quant.scale) * static_cast<double>(quant.high);
    details.clippedFraction = m_usage[0].clippedFraction();
    setCodes(details, m_usage[0]);
    return details;
}

}  // namespace quantloupe
