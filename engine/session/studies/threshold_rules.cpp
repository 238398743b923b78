// SPDX-License-Identifier: Apache-2.0
#include "session/studies/threshold_rules.h"

#include <algorithm>

#include "config/config_json.h"
#include "config/skip_rules.h"
#include "session/studies/skip_metrics.h"

namespace quantloupe {
namespace {

enum class Basis { Weights, Alone, Network, LeaveOneOut };

Basis basisOf(SkipMetric metric) {
    switch (metric) {
        case SkipMetric::WeightQs:
        case SkipMetric::WeightSqnr:
            return Basis::Weights;
        case SkipMetric::LocalQs:
        case SkipMetric::LocalCosine:
        case SkipMetric::LocalSqnr:
        case SkipMetric::LocalAbsoluteL2:
            return Basis::Alone;
        case SkipMetric::CumulativeQs:
        case SkipMetric::CumulativeCosine:
        case SkipMetric::CumulativeSqnr:
            return Basis::Network;
        case SkipMetric::LeaveOneOut:
            return Basis::LeaveOneOut;
    }
    return Basis::Network;
}

bool isThreshold(const SkipRule& rule) { return rule.kind == SkipKind::Threshold && !rule.off; }

/// Returns the configuration on which the metrics of a basis are measured.
QuantizationConfig configOf(Basis basis, QuantizationConfig config) {
    if (basis == Basis::Network || basis == Basis::LeaveOneOut) {
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

EvaluationPtr measured(SessionParts& parts, Basis basis, const QuantizationConfig& config,
                       const RunControl& control) {
    const QuantizationConfig basisConfig = configOf(basis, config);
    const Version version =
        VersionBuilder().add(std::string_view(configToJson(basisConfig))).add(basis).finish();
    if (const EvaluationPtr* known = parts.results.thresholdBases.find(version)) return *known;
    EvaluationPtr result;
    if (basis == Basis::LeaveOneOut) {
        {
            const KeptState kept(parts.predictor);
            parts.session.measureInBackground(basisConfig, 0, {}, control.cancel);
        }
        result = parts.session.exactExperiment(basisConfig, Depth::Accuracy, control.cancel);
    } else {
        // Learned rounding, which needs data, changes the weights.
        const Depth forWeights = parts.samples.available() ? Depth::Rough : Depth::States;
        result = parts.session.exactExperiment(
            basisConfig, basis == Basis::Weights ? forWeights : Depth::Metrics, control.cancel);
    }
    return parts.results.thresholdBases.store(version, result);
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
        const Basis basis = basisOf(rule.metric);
        if (needsSamples(rule.metric) && !parts.samples.available()) {
            if (notices != nullptr)
                notices->push_back(fmt::format("skip rule {} ({}) matches nothing: its metric needs data",
                                               r + 1, describe(rule)));
            continue;
        }
        rule.layers = layersBeyond(rule, measured(parts, basis, config, control)->layers);
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
