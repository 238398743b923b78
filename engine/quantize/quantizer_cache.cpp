// SPDX-License-Identifier: Apache-2.0
#include "quantize/quantizer_cache.h"

#include <algorithm>

namespace quantloupe {

std::shared_ptr<const ConstantQuantizer> QuantizerCache::weight(const Constant& weight,
                                                                const WeightScheme& scheme, int axis,
                                                                TieRounding rounding) {
    VersionBuilder builder;
    builder.add(weight.version()).add(scheme.perChannel ? axis : -1).add(rounding);
    addTo(builder, scheme);
    const Version version = builder.finish();
    if (const auto* known = m_weights.find(version)) return *known;
    return m_weights.store(
        version, std::make_shared<const ConstantQuantizer>(quantizeWeight(weight, scheme, axis, rounding)));
}

CalibrationResult QuantizerCache::activation(const TensorStatistics& statistics,
                                             const TensorCalibration& calibration) {
    // The other methods cost less than a lookup in the cache.
    if (!needsDistribution(calibration.method) || !statistics.distribution)
        return solveCalibration(statistics, calibration.scheme, calibration.method, calibration.parameters);
    VersionBuilder builder;
    builder.add(statistics.distribution->version);
    calibration.addTo(builder);
    if (const auto votes = statistics.votes.find(calibration.scheme.bits); votes != statistics.votes.end())
        for (const auto& [position, count] : votes->second) builder.add(position).add(count);
    const Version version = builder.finish();
    if (const auto* known = m_activations.find(version)) return *known;
    return m_activations.store(version, solveCalibration(statistics, calibration.scheme, calibration.method,
                                                         calibration.parameters));
}

std::size_t QuantizerCache::shrink(std::size_t mostBytes) {
    const auto solved = [](const CalibrationResult& result) { return result.notice.capacity(); };
    const std::size_t activations = m_activations.shrink(mostBytes / 8, solved);
    return activations + m_weights.shrink(mostBytes - std::min(mostBytes, activations),
                                          [](const auto& weight) { return bytesOf(*weight); });
}

void QuantizerCache::clear() {
    m_weights.clear();
    m_activations.clear();
}

}  // namespace quantloupe
