// SPDX-License-Identifier: Apache-2.0
#include "session/studies/threshold_rules.h"

#include <algorithm>
#include <cmath>

#include "base/short_text.h"
#include "config/config_json.h"
#include "config/skip_metric_traits.h"
#include "config/skip_rules.h"
#include "session/studies/skip_metrics.h"

namespace quantloupe {
namespace {

bool isThreshold(const SkipRule& rule) { return rule.kind == SkipKind::Threshold && !rule.off; }

/// Returns the configuration on which the metric is measured.
QuantizationConfig configOf(const SkipMetricTraits& metric, QuantizationConfig config) {
    if (metric.dependsOnRules()) {
        std::erase_if(config.rules, isThreshold);
        return config;
    }
    config.rules.clear();
    config.skipTail = config.wholeTail = false;
    const auto isFloat = [](const Precision& precision) { return !precision.isInteger(); };
    std::erase_if(config.precisionRules, [&](const PrecisionRule& rule) { return isFloat(rule.precision); });
    for (auto& [name, settings] : config.layers) {
        settings.quantize.reset();
        if (settings.precision && isFloat(*settings.precision)) settings.precision.reset();
    }
    return config;
}

EvaluationPtr measured(SessionParts& parts, const SkipMetricTraits& metric, const QuantizationConfig& config,
                       const RunControl& control) {
    const QuantizationConfig basisConfig = configOf(metric, config);
    const Version version =
        VersionBuilder().add(std::string_view(configToJson(basisConfig))).add(metric.basis).finish();
    if (const EvaluationPtr* known = parts.results.thresholdBases.find(version)) return *known;
    EvaluationPtr result;
    if (metric.basis == MetricBasis::LeaveOneOut) {
        {
            const KeptState kept(parts.predictor);
            parts.session.measureInBackground(basisConfig, 0, {}, control.cancel);
        }
        result = parts.session.exactExperiment(basisConfig, Depth::Accuracy, control.cancel);
    } else {
        // Learned rounding, which needs data, changes the weights.
        const Depth forWeights = parts.samples.available() ? Depth::Rough : Depth::States;
        result = parts.session.exactExperiment(
            basisConfig, metric.basis == MetricBasis::Weights ? forWeights : Depth::Metrics, control.cancel);
    }
    return parts.results.thresholdBases.store(version, result);
}

/// Says which layer is closest to the threshold of a rule that matches none.
std::string closestLayer(const SkipRule& rule, const std::vector<LayerResult>& layers) {
    const LayerResult* closest = nullptr;
    double best = 0;
    for (const LayerResult& layer : layers) {
        const std::optional<double> value = skipMetricOf(layer, rule.metric);
        if (!layer.quantizable || !value || std::isnan(*value)) continue;
        if (closest != nullptr && (rule.below ? *value >= best : *value <= best)) continue;
        closest = &layer;
        best = *value;
    }
    if (closest == nullptr) return "no layer has a value of its metric";
    return fmt::format("the {} value is {:.4g} ({})", rule.below ? "smallest" : "largest", best,
                       shortName(closest->name));
}

}  // namespace

QuantizationConfig withThresholdsMeasured(SessionParts& parts, const QuantizationConfig& config,
                                          const RunControl& control, std::vector<std::string>* notices) {
    if (std::ranges::none_of(config.rules, isThreshold)) return config;
    QuantizationConfig result = config;
    for (std::size_t r = 0; r < config.rules.size(); ++r) {
        SkipRule& rule = result.rules[r];
        if (!isThreshold(rule)) continue;
        rule.layers.clear();
        const SkipMetricTraits& metric = traitsOf(rule.metric);
        const auto note = [&](const std::string& why) {
            if (notices != nullptr)
                notices->push_back(
                    fmt::format("skip rule {} ({}) matches no layers: {}", r + 1, describe(rule), why));
        };
        if (metric.needsSamples() && !parts.samples.available()) {
            note("its metric needs data");
            continue;
        }
        const EvaluationPtr basis = measured(parts, metric, config, control);
        rule.layers = layersBeyond(rule, basis->layers);
        if (rule.layers.empty()) note(closestLayer(rule, basis->layers));
    }
    return result;
}

QuantizationConfig withThresholdsFixed(QuantizationConfig config) {
    for (SkipRule& rule : config.rules) {
        if (!isThreshold(rule)) continue;
        SkipRule fixed;
        fixed.layers = std::move(rule.layers);
        rule = std::move(fixed);
    }
    std::erase_if(config.rules,
                  [](const SkipRule& rule) { return rule.kind == SkipKind::Node && rule.layers.empty(); });
    return config;
}

}  // namespace quantloupe
