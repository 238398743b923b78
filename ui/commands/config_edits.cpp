// SPDX-License-Identifier: Apache-2.0
#include "commands/config_edits.h"

#include <algorithm>

#include "config/config_fields.h"
#include "config/layer_choices.h"
#include "config/presets.h"
#include "config/skip_rules.h"
#include "model/reachability.h"
#include "results/layer_host.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

QString qs(const std::string& text) { return QString::fromStdString(text); }

ConfigEdit addRule(const QuantizationConfig& config, SkipRule rule) {
    ConfigEdit edit{config, {}, {}};
    if (std::ranges::count(config.rules, rule) > 0) {
        edit.complaint = Words::tr("This rule already exists: %1.").arg(qs(describe(rule)));
        return edit;
    }
    edit.text = Words::tr("Skip %1").arg(qs(describe(rule)));
    edit.next.rules.push_back(std::move(rule));
    return edit;
}

/// The layers of the nodes that can be quantized; folded and fused layers are replaced by their hosts.
struct EditableLayers {
    std::vector<std::string> names;
    bool anyQuantized = false;
    QString complaint;  ///< why there are no layers

    EditableLayers(const Graph& graph, const std::vector<LayerResult>& layers,
                   const std::vector<NodeId>& nodes) {
        for (const NodeId node : nodes) {
            std::string name = graph.node(node).name;
            if (node.index() < layers.size()) {
                const LayerResult& layer = layers[hostOf(graph, layers, node.index())];
                if (!layer.quantizable) {
                    complaint =
                        (layer.state == LayerState::Quantized ? Words::tr("'%1' cannot be kept in float: %2")
                                                              : Words::tr("'%1' cannot be quantized: %2"))
                            .arg(qs(layer.name), layer.reason.empty()
                                                     ? Words::tr("this operator is not quantized")
                                                     : qs(layer.reason));
                    continue;
                }
                anyQuantized = anyQuantized || layer.state == LayerState::Quantized;
                name = layer.name;
            }
            if (std::ranges::count(names, name) == 0) names.push_back(name);
        }
        if (complaint.isEmpty()) complaint = Words::tr("Select a layer first.");
    }
};

}  // namespace

QuantizationConfig withoutCosmeticFields(const QuantizationConfig& config) {
    QuantizationConfig value = withoutOffRules(
        onlyFields(config, [](const Field& field) { return field.effect != FieldEffect::Export; }));
    for (auto& [name, settings] : value.layers) settings.comment.clear();
    std::erase_if(value.layers, [](const auto& entry) { return entry.second.empty(); });
    return value;
}

bool haveSameResults(const QuantizationConfig& a, const QuantizationConfig& b) {
    return a == b || withoutCosmeticFields(a) == withoutCosmeticFields(b);
}

ConfigEdit skipLayers(const QuantizationConfig& config, const std::vector<std::string>& names) {
    return {withLayersSkipped(config, names), Words::tr("Skip %1").arg(layersText(names)), {}};
}

ConfigEdit quantizeLayers(const Graph& graph, const QuantizationConfig& config,
                          const std::vector<std::string>& names) {
    return {withLayersQuantized(graph, config, names), Words::tr("Quantize %1").arg(layersText(names)), {}};
}

ConfigEdit toggleLayers(const Graph& graph, const QuantizationConfig& config,
                        const std::vector<LayerResult>& layers, const std::vector<NodeId>& nodes) {
    const EditableLayers editable(graph, layers, nodes);
    if (editable.names.empty()) return {config, {}, editable.complaint};
    bool anyQuantized = editable.anyQuantized;
    // Before the first states are known, layers that no rule covers count as quantized.
    if (layers.empty()) {
        const SkipDecisions decisions = resolveSkips(graph, config);
        anyQuantized = std::ranges::any_of(nodes, [&](NodeId node) { return !decisions.skipped(node); });
    }
    return anyQuantized ? skipLayers(config, editable.names) : quantizeLayers(graph, config, editable.names);
}

ConfigEdit setPrecision(const Graph& graph, const QuantizationConfig& config,
                        const std::vector<LayerResult>& layers, const std::vector<NodeId>& nodes,
                        const std::optional<Precision>& precision) {
    const EditableLayers editable(graph, layers, nodes);
    if (editable.names.empty()) return {config, {}, editable.complaint};
    const QString listed = layersText(editable.names);
    if (!precision)
        return {
            withoutPrecision(config, editable.names), Words::tr("Clear the precision of %1").arg(listed), {}};
    return {withPrecision(config, editable.names, *precision),
            Words::tr("Set %1 to %2").arg(listed, precisionText(*precision)),
            {}};
}

QString precisionText(const Precision& precision) {
    const QString name = qs(precisionName(precision));
    return precision.isInteger() ? name.toUpper() : name;
}

ConfigEdit skipUntil(const Graph& graph, const QuantizationConfig& config, NodeId one, NodeId other) {
    const auto reaches = [&graph](NodeId from, NodeId to) {
        const NodeSet set = between(graph, from, to);
        return to.index() < set.size() && set[to.index()];
    };
    if (!reaches(one, other)) {
        if (!reaches(other, one)) {
            ConfigEdit edit{
                config,
                {},
                Words::tr(
                    "No path connects %1 and %2 in either direction, so there are no layers between them.")
                    .arg(qs(graph.node(one).name), qs(graph.node(other).name))};
            return edit;
        }
        std::swap(one, other);
    }
    SkipRule rule;
    rule.kind = SkipKind::Until;
    rule.from = graph.node(one).name;
    rule.to.push_back(graph.node(other).name);
    return addRule(config, std::move(rule));
}

ConfigEdit skipUntil(const Graph& graph, const QuantizationConfig& config, NodeId from,
                     const std::vector<NodeId>& ends) {
    if (ends.size() == 1) return skipUntil(graph, config, from, ends.front());
    SkipRule rule;
    rule.kind = SkipKind::Until;
    rule.from = graph.node(from).name;
    for (const NodeId end : ends) {
        const NodeSet set = between(graph, from, end);
        if (end.index() >= set.size() || !set[end.index()])
            return {config,
                    {},
                    Words::tr("No path leads from %1 to %2. To skip until several layers, start from a layer "
                              "upstream of all of them.")
                        .arg(qs(graph.node(from).name), qs(graph.node(end).name))};
        rule.to.push_back(graph.node(end).name);
    }
    return addRule(config, std::move(rule));
}

ConfigEdit skipDownstream(const Graph& graph, const QuantizationConfig& config, NodeId from) {
    SkipRule rule;
    rule.kind = SkipKind::Downstream;
    rule.from = graph.node(from).name;
    return addRule(config, std::move(rule));
}

ConfigEdit skipType(const QuantizationConfig& config, const std::string& op) {
    SkipRule rule;
    rule.kind = SkipKind::Type;
    rule.op = op;
    return addRule(config, std::move(rule));
}

ConfigEdit skipPattern(const QuantizationConfig& config, const std::string& regex) {
    SkipRule rule;
    rule.kind = SkipKind::Pattern;
    rule.regex = regex;
    return addRule(config, std::move(rule));
}

ConfigEdit skipBlocks(const QuantizationConfig& config, const std::string& like) {
    SkipRule rule;
    rule.kind = SkipKind::Block;
    rule.like = like;
    return addRule(config, std::move(rule));
}

ConfigEdit addSkipRule(const QuantizationConfig& config, const SkipRule& rule) {
    return addRule(config, rule);
}

ConfigEdit switchRule(const QuantizationConfig& config, std::size_t index, bool on) {
    ConfigEdit edit{config, {}, {}};
    if (index >= config.rules.size()) return edit;
    edit.text = (on ? Words::tr("Enable rule: %1") : Words::tr("Disable rule: %1"))
                    .arg(qs(describe(config.rules[index])));
    edit.next.rules[index].off = !on;
    return edit;
}

ConfigEdit removeRule(const QuantizationConfig& config, std::size_t index) {
    ConfigEdit edit{config, {}, {}};
    if (index >= config.rules.size()) return edit;
    edit.text = Words::tr("Remove rule: %1").arg(qs(describe(config.rules[index])));
    edit.next.rules.erase(edit.next.rules.begin() + static_cast<std::ptrdiff_t>(index));
    return edit;
}

ConfigEdit setTail(const QuantizationConfig& config, bool skip) {
    ConfigEdit edit{config, skip ? Words::tr("Skip the tail") : Words::tr("Quantize the tail"), {}};
    edit.next.skipTail = edit.next.wholeTail = skip;  // the user decides, regardless of the size of the tail
    return edit;
}

ConfigEdit clearLayerChoice(const QuantizationConfig& config, const std::string& name) {
    ConfigEdit edit{config, Words::tr("Use the rules for %1").arg(qs(name)), {}};
    if (config.layers.contains(name)) setLayerChoice(edit.next, name, std::nullopt);
    return edit;
}

ConfigEdit applyPreset(const QuantizationConfig& config, const std::string& name) {
    return {withPreset(config, name), Words::tr("Preset %1").arg(qs(name)), {}};
}

bool differsFromPreset(const QuantizationConfig& config) {
    try {
        return applyPreset(config, config.preset).next != config;
    } catch (const std::exception&) {
        return true;  // this version does not have the preset
    }
}

}  // namespace quantloupe::ui
