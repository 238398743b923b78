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

void forget(QuantizationConfig& config, const std::vector<std::string>& names) {
    dropFromNodeRules(config, names);
    for (const std::string& name : names)
        if (config.layers.contains(name)) setLayerChoice(config, name, std::nullopt);
}

}  // namespace

void setLayerChoice(QuantizationConfig& config, const std::string& name, std::optional<bool> quantize) {
    LayerSettings& settings = config.layers[name];
    settings.quantize = quantize;
    if (settings.empty()) config.layers.erase(name);
}

QuantizationConfig withLayersSkipped(QuantizationConfig config, const std::vector<std::string>& names) {
    if (names.empty()) return config;
    forget(config, names);
    SkipRule rule;
    rule.kind = SkipKind::Node;
    rule.layers = names;
    config.rules.push_back(std::move(rule));
    return config;
}

QuantizationConfig withLayersQuantized(const Graph& graph, QuantizationConfig config,
                                       const std::vector<std::string>& names) {
    forget(config, names);
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

void requireLayers(const Graph& graph, const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (!graph.findNode(name)) throw unknownLayer(graph, name);
}

}  // namespace quantloupe
