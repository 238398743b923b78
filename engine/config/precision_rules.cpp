// SPDX-License-Identifier: Apache-2.0
#include "config/precision_rules.h"

#include <algorithm>

#include "base/error.h"
#include "config/skip_rules.h"

namespace quantloupe {
namespace {

/// Returns the layer's own bits or, if they are not set, the bits of the network or the rule.
Precision bitsOf(const LayerSettings& settings, int weightBits, int activationBits) {
    return Precision::integer(settings.weightBits.value_or(weightBits),
                              settings.activationBits.value_or(activationBits));
}

void setBits(LayerSettings& settings, const Precision& precision) {
    settings.weightBits = precision.weightBits;
    settings.activationBits = precision.activationBits;
}

/// Writes the precision that a rule gives to a layer into the layer's settings.
void resolveRule(LayerSettings& settings, const Precision& precision, bool skipped) {
    if (settings.precision) return;
    if (!precision.isInteger()) {
        if (!settings.quantize) settings.precision = precision;
        return;
    }
    const Precision own = bitsOf(settings, precision.weightBits, precision.activationBits);
    setBits(settings, own);
    // A skipped layer only gets the bits that it would be quantized with.
    if (!skipped) settings.precision = own;
}

}  // namespace

std::string describe(const PrecisionRule& rule) {
    return fmt::format("{} for {}", precisionName(rule.precision), describe(rule.covers));
}

std::vector<std::optional<std::size_t>> coveringPrecisionRules(const Graph& source,
                                                               const QuantizationConfig& config) {
    std::vector<std::optional<std::size_t>> deciding(source.nodeCount());
    for (std::size_t r = 0; r < config.precisionRules.size(); ++r) {
        const PrecisionRule& rule = config.precisionRules[r];
        if (rule.covers.off) continue;
        try {
            const NodeSet covered = coveredBy(source, rule.covers);
            for (std::size_t n = 0; n < covered.size(); ++n)
                if (covered[n]) deciding[n] = r;
        } catch (Error& error) {
            error.addContext(fmt::format("precision rule {} ({})", r + 1, describe(rule)));
            throw;
        }
    }
    return deciding;
}

Precision precisionOf(const QuantizationConfig& config, const std::string& layer) {
    const int weightBits = config.quantization.weight.bits;
    const int activationBits = config.quantization.activation.bits;
    const LayerSettings* const own = config.settingsOf(layer);
    if (own == nullptr) return Precision::integer(weightBits, activationBits);
    if (own->precision) return *own->precision;
    if (own->quantize == false) return Precision::float32();
    return bitsOf(*own, weightBits, activationBits);
}

std::vector<Precision> precisionsOf(const Graph& source, const QuantizationConfig& config) {
    const SkipDecisions skips = resolveSkips(source, config);
    const QuantizationConfig resolved = withPrecisionsResolved(source, config);
    std::vector<Precision> precisions;
    for (std::size_t n = 0; n < source.nodeCount(); ++n)
        precisions.push_back(skips.inFloat16(NodeId(n)) ? Precision::float16()
                             : skips.skipped(NodeId(n)) ? Precision::float32()
                                                        : precisionOf(resolved, source.nodes()[n].name));
    return precisions;
}

bool hasPrecisions(const QuantizationConfig& config) {
    return std::ranges::any_of(config.precisionRules,
                               [](const PrecisionRule& rule) { return !rule.covers.off; }) ||
           std::ranges::any_of(config.layers,
                               [](const auto& layer) { return layer.second.precision.has_value(); });
}

QuantizationConfig withPrecisionsResolved(const Graph& source, QuantizationConfig config) {
    if (!hasPrecisions(config)) return config;
    const SkipDecisions skips = resolveSkips(source, config);
    const auto deciding = coveringPrecisionRules(source, config);
    for (std::size_t n = 0; n < deciding.size(); ++n)
        if (deciding[n])
            resolveRule(config.layers[source.nodes()[n].name], config.precisionRules[*deciding[n]].precision,
                        skips.skipped(NodeId(n)));
    config.precisionRules.clear();
    for (auto& [name, settings] : config.layers)
        if (settings.precision && settings.precision->isInteger()) setBits(settings, *settings.precision);
    return config;
}

}  // namespace quantloupe
