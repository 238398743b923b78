// SPDX-License-Identifier: Apache-2.0
#include "session/studies/skip_metrics.h"

#include <cmath>

#include "base/error.h"
#include "config/skip_rules.h"

namespace quantloupe {

std::optional<double> skipMetricOf(const LayerResult& layer, SkipMetric metric) {
    const auto of = [](const std::optional<TensorDifference>& difference, double TensorDifference::*value) {
        return difference ? std::optional((*difference).*value) : std::nullopt;
    };
    switch (metric) {
        case SkipMetric::WeightQs:
            return of(layer.weight, &TensorDifference::qs);
        case SkipMetric::WeightSqnr:
            return of(layer.weight, &TensorDifference::sqnrDb);
        case SkipMetric::LocalQs:
            return of(layer.local, &TensorDifference::qs);
        case SkipMetric::LocalCosine:
            return of(layer.local, &TensorDifference::cosine);
        case SkipMetric::LocalSqnr:
            return of(layer.local, &TensorDifference::sqnrDb);
        case SkipMetric::LocalAbsoluteL2:
            return of(layer.local, &TensorDifference::absoluteL2);
        case SkipMetric::CumulativeQs:
            return of(layer.cumulative, &TensorDifference::qs);
        case SkipMetric::CumulativeCosine:
            return of(layer.cumulative, &TensorDifference::cosine);
        case SkipMetric::CumulativeSqnr:
            return of(layer.cumulative, &TensorDifference::sqnrDb);
        case SkipMetric::LeaveOneOut:
            return layer.leaveOneOut;
    }
    return {};
}

bool needsSamples(SkipMetric metric) {
    return metric != SkipMetric::WeightQs && metric != SkipMetric::WeightSqnr;
}

void requireSamplesForThresholds(const QuantizationConfig& config, std::string_view option) {
    for (std::size_t r = 0; r < config.rules.size(); ++r) {
        const SkipRule& rule = config.rules[r];
        if (rule.kind != SkipKind::Threshold || rule.off || !needsSamples(rule.metric)) continue;
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
