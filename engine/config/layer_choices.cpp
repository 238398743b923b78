// SPDX-License-Identifier: Apache-2.0
#include "config/layer_choices.h"

#include <algorithm>
#include <set>

#include "config/skip_rules.h"

namespace quantloupe {
namespace {

/// Removes the names from all node rules, then the rules that have become empty.
void dropFromNodeRules(QuantizationConfig& config, const std::vector<std::string>& names) {
    const std::set<std::string> dropped(names.begin(), names.end());
    for (SkipRule& rule : config.rules) {
        if (rule.kind != SkipKind::Node || rule.off) continue;
        std::erase_if(rule.layers, [&](const std::string& layer) { return dropped.contains(layer); });
    }
    std::erase_if(config.rules,
                  [](const SkipRule& r) { return r.kind == SkipKind::Node && r.layers.empty(); });
}

/// Clears `quantize` and precisions that prevent the layers from being quantized or, with `skipping`,
/// skipped.
void forget(QuantizationConfig& config, const std::vector<std::string>& names, bool skipping) {
    dropFromNodeRules(config, names);
    for (const std::string& name : names) {
        const auto layer = config.layers.find(name);
        if (layer == config.layers.end()) continue;
        std::optional<Precision>& precision = layer->second.precision;
        if (precision && precision->isInteger() == skipping) precision.reset();
        setLayerChoice(config, name, std::nullopt);
    }
}

}  // namespace

void setLayerChoice(QuantizationConfig& config, const std::string& name, std::optional<bool> quantize) {
    LayerSettings& settings = config.layers[name];
    settings.quantize = quantize;
    if (quantize && settings.precision && settings.precision->isInteger() != *quantize)
        settings.precision.reset();
    if (settings.empty()) config.layers.erase(name);
}

QuantizationConfig withLayersSkipped(QuantizationConfig config, const std::vector<std::string>& names) {
    if (names.empty()) return config;
    forget(config, names, true);
    SkipRule rule;
    rule.kind = SkipKind::Node;
    rule.layers = names;
    config.rules.push_back(std::move(rule));
    return config;
}

QuantizationConfig withLayersQuantized(const Graph& graph, QuantizationConfig config,
                                       const std::vector<std::string>& names) {
    forget(config, names, false);
    const SkipDecisions decisions = resolveSkips(graph, config);
    const bool unmeasured = std::ranges::any_of(config.rules, [](const SkipRule& rule) {
        return rule.kind == SkipKind::Threshold && !rule.off && rule.layers.empty();
    });
    for (const std::string& name : names) {
        const auto node = graph.findNode(name);
        // A threshold rule without results may cover the layer later.
        if (node && (unmeasured || decisions.skipped(*node))) setLayerChoice(config, name, true);
    }
    return config;
}

QuantizationConfig withPrecision(QuantizationConfig config, const std::vector<std::string>& names,
                                 const Precision& precision) {
    dropFromNodeRules(config, names);
    for (const std::string& name : names) {
        LayerSettings& settings = config.layers[name];
        settings.quantize.reset();
        settings.weightBits.reset();
        settings.activationBits.reset();
        settings.precision = precision;
    }
    return config;
}

QuantizationConfig withoutPrecision(QuantizationConfig config, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        const auto layer = config.layers.find(name);
        if (layer == config.layers.end()) continue;
        layer->second.precision.reset();
        if (layer->second.empty()) config.layers.erase(layer);
    }
    return config;
}

void requireLayers(const Graph& graph, const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (!graph.findNode(name)) throw unknownLayer(graph, name);
}

}  // namespace quantloupe
