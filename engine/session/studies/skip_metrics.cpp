// SPDX-License-Identifier: Apache-2.0
#include "session/studies/skip_metrics.h"

#include <cmath>

#include "base/error.h"
#include "config/skip_metric_traits.h"
#include "config/skip_rules.h"

namespace quantloupe {

namespace {

const std::optional<TensorDifference>& differenceOn(MetricBasis basis, const LayerResult& layer) {
    if (basis == MetricBasis::Weights) return layer.weight;
    return basis == MetricBasis::Alone ? layer.local : layer.cumulative;
}

}  // namespace

std::optional<double> skipMetricOf(const LayerResult& layer, SkipMetric metric) {
    const SkipMetricTraits& traits = traitsOf(metric);
    const auto of = [&](double TensorDifference::*value) {
        const auto& difference = differenceOn(traits.basis, layer);
        return difference ? std::optional((*difference).*value) : std::nullopt;
    };
    switch (traits.quantity) {
        case MetricQuantity::Qs:
            return of(&TensorDifference::qs);
        case MetricQuantity::Cosine:
            return of(&TensorDifference::cosine);
        case MetricQuantity::Sqnr:
            return of(&TensorDifference::sqnrDb);
        case MetricQuantity::AbsoluteL2:
            return of(&TensorDifference::absoluteL2);
        case MetricQuantity::Gain:
            return layer.leaveOneOut;
    }
    return {};
}

void requireSamplesForThresholds(const QuantizationConfig& config, std::string_view option) {
    for (std::size_t r = 0; r < config.rules.size(); ++r) {
        const SkipRule& rule = config.rules[r];
        if (rule.kind != SkipKind::Threshold || rule.off || !traitsOf(rule.metric).needsSamples()) continue;
        failInput(
            "skip rule {} ({}) matches no layers: its metric is computed on samples, and there "
            "are none. Open data ({}), or replace the rule with the layers that it should match",
            r + 1, describe(rule), option);
    }
}

std::vector<std::string> layersBeyond(const SkipRule& rule, const std::vector<LayerResult>& layers) {
    std::vector<std::string> names;
    for (const LayerResult& layer : layers) {
        const std::optional<double> value = skipMetricOf(layer, rule.metric);
        if (!layer.quantizable || !value || std::isnan(*value)) continue;
        if (rule.below ? *value < rule.threshold : *value > rule.threshold) names.push_back(layer.name);
    }
    return names;
}

QuantizationConfig withThresholdsFrom(QuantizationConfig config, const std::vector<LayerResult>& layers) {
    for (SkipRule& rule : config.rules)
        if (rule.kind == SkipKind::Threshold && !rule.off) rule.layers = layersBeyond(rule, layers);
    return config;
}

}  // namespace quantloupe
