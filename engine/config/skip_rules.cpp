// SPDX-License-Identifier: Apache-2.0
#include "config/skip_rules.h"

#include <set>

#include "base/error.h"
#include "base/short_text.h"
#include "config/config_choices.h"
#include "config/name_pattern.h"
#include "config/near_names.h"
#include "config/precision_rules.h"
#include "config/skip_metric_traits.h"
#include "config/tail_rule.h"
#include "model/blocks.h"
#include "model/layer_names.h"
#include "model/operator_signatures.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

/// Lists the names, each limited in length.
std::string shortNames(std::vector<std::string> names) {
    for (std::string& name : names) name = shortName(name);
    return shortList(names, 3);
}

NodeId needLayer(const Graph& graph, const std::string& name) {
    if (const auto node = graph.findNode(name)) return *node;
    throw unknownLayer(graph, name);
}

void add(NodeSet& set, const NodeSet& more) {
    for (std::size_t n = 0; n < set.size(); ++n) set[n] = set[n] || more[n];
}

NodeSet coveredByUntil(const Graph& graph, const SkipRule& rule) {
    if (rule.to.empty()) failInput("it does not name a layer to stop at");
    const NodeId from = needLayer(graph, rule.from);
    NodeSet covered(graph.nodeCount(), false);
    for (const std::string& name : rule.to) {
        const NodeId to = needLayer(graph, name);
        const NodeSet path = between(graph, from, to);
        if (!any(path) && any(between(graph, to, from)))
            failInput("there is no path from '{}' to '{}', but there is one from '{}' to '{}': swap them",
                      rule.from, name, name, rule.from);
        if (!any(path))
            failInput("there is no path from '{}' to '{}' or back: they are on different branches", rule.from,
                      name);
        add(covered, path);
    }
    return covered;
}

/// The name of a type rule for all depthwise convolutions.
constexpr const char* kDepthwise = "depthwise";

NodeSet coveredByType(const Graph& graph, const SkipRule& rule) {
    NodeSet covered(graph.nodeCount(), false);
    std::set<std::string> types;
    for (std::size_t n = 0; n < covered.size(); ++n) {
        const Node& node = graph.nodes()[n];
        covered[n] = node.op == rule.op || (rule.op == kDepthwise && isDepthwise(graph, node));
        types.insert(node.op);
    }
    // One list of operators can be used for several models; a notice says which of them a model lacks.
    if (!any(covered) && rule.op != kDepthwise && !isOperator(rule.op))
        failInput("the model has no layer of type '{}'; its types are: {}", rule.op, fmt::join(types, ", "));
    return covered;
}

NodeSet coveredByPattern(const Graph& graph, const SkipRule& rule) {
    const NamePattern pattern(rule.regex);
    NodeSet covered(graph.nodeCount(), false);
    for (std::size_t n = 0; n < covered.size(); ++n) covered[n] = pattern.matches(graph.nodes()[n]);
    if (!any(covered)) {
        std::vector<std::string> names;
        for (const Node& node : graph.nodes()) names.push_back(node.name);
        failInput("no layer's name matches /{}/; examples of names: {}", rule.regex, shortNames(names));
    }
    return covered;
}

NodeSet coveredByBlock(const Graph& graph, const SkipRule& rule) {
    const std::vector<Block> blocks = blocksLike(graph, rule.like);
    if (blocks.empty()) {
        std::set<std::string> scopes;
        for (const Node& node : graph.nodes())
            for (const std::string_view scope : scopesOf(node.path())) scopes.emplace(scope);
        failInput("the model has no block '{}': no layer has this name, and no module has this path{}",
                  rule.like, didYouMean(nearNames({scopes.begin(), scopes.end()}, rule.like, 3)));
    }
    NodeSet covered(graph.nodeCount(), false);
    for (const Block& block : blocks)
        for (const NodeId node : block.nodes) covered[node.index()] = true;
    return covered;
}

std::string inFloat(const Precision& precision) {
    return precision == Precision::float16() ? "computed in float16" : "kept in float32";
}

void explain(SkipDecisions& decisions, const NodeSet& covered, const std::string& reason) {
    for (std::size_t n = 0; n < covered.size(); ++n)
        if (covered[n] && decisions.reasons[n].empty()) decisions.reasons[n] = reason;
}

void addPrecisionRules(const Graph& source, const QuantizationConfig& config, SkipDecisions& decisions) {
    const auto deciding = coveringPrecisionRules(source, config);
    for (std::size_t n = 0; n < deciding.size(); ++n) {
        if (!deciding[n]) continue;
        const PrecisionRule& rule = config.precisionRules[*deciding[n]];
        if (rule.precision.isInteger()) continue;
        const bool half = rule.precision == Precision::float16();
        decisions.float16[n] = half;
        if (half || decisions.reasons[n].empty())
            decisions.reasons[n] = fmt::format("{} by precision rule {}: {}", inFloat(rule.precision),
                                               *deciding[n] + 1, describe(rule.covers));
    }
}

/// Returns why the layer's own setting keeps it in float; empty if it does not.
std::string ownReason(const LayerSettings& settings) {
    if (settings.precision ? settings.precision->isInteger() : settings.quantize.value_or(true)) return {};
    const std::string reason = settings.precision
                                   ? inFloat(*settings.precision) + " by the layer's own precision"
                                   : "skipped by the layer's own setting";
    return settings.comment.empty() ? reason : fmt::format("{}: {}", reason, settings.comment);
}

}  // namespace

NodeSet coveredBy(const Graph& graph, const SkipRule& rule) {
    NodeSet covered(graph.nodeCount(), false);
    switch (rule.kind) {
        case SkipKind::Node:
            if (rule.layers.empty()) failInput("it does not name a layer");
            for (const std::string& name : rule.layers) covered[needLayer(graph, name).index()] = true;
            return covered;
        case SkipKind::Until:
            return coveredByUntil(graph, rule);
        case SkipKind::Downstream: {
            const NodeId from = needLayer(graph, rule.from);
            return downstreamOf(graph, std::span(&from, 1));
        }
        case SkipKind::Type:
            return coveredByType(graph, rule);
        case SkipKind::Pattern:
            return coveredByPattern(graph, rule);
        case SkipKind::Block:
            return coveredByBlock(graph, rule);
        case SkipKind::Threshold:
            for (const std::string& name : rule.layers) covered[needLayer(graph, name).index()] = true;
            return covered;
    }
    fail(ErrorKind::Internal, "unknown kind of skip rule");
}

std::string describe(const SkipRule& rule) {
    switch (rule.kind) {
        case SkipKind::Node:
            return fmt::format("{} {}", rule.layers.size() == 1 ? "layer" : "layers",
                               shortNames(rule.layers));
        case SkipKind::Until:
            return fmt::format("from {} until {}", shortName(rule.from), shortNames(rule.to));
        case SkipKind::Downstream:
            return fmt::format("{} and everything downstream", shortName(rule.from));
        case SkipKind::Type:
            return fmt::format("all {} layers", shortName(rule.op));
        case SkipKind::Pattern:
            return fmt::format("names matching /{}/", shortName(rule.regex));
        case SkipKind::Block:
            return fmt::format("{} and all blocks with the same structure", shortName(rule.like));
        case SkipKind::Threshold:
            return fmt::format("{} {} {:g}", traitsOf(rule.metric).title, rule.below ? "below" : "above",
                               rule.threshold);
    }
    return {};
}

std::vector<std::string> nearLayerNames(const Graph& graph, const std::string& name, std::size_t most) {
    std::vector<std::string> names, inModule;
    names.reserve(graph.nodeCount());
    for (const Node& node : graph.nodes()) {
        names.push_back(node.name);
        if (inModule.size() < most && (node.path() == name || moduleOf(node) == name))
            inModule.push_back(node.name);
    }
    return inModule.empty() ? nearNames(names, name, most) : inModule;
}

Error unknownLayer(UnknownName layer) {
    Error error(ErrorKind::BadInput,
                fmt::format("the model has no layer '{}'{}", layer.name, didYouMean(layer.similar)));
    error.setUnknownName(std::move(layer));
    return error;
}

Error unknownLayer(const Graph& graph, const std::string& name) {
    return unknownLayer({name, nearLayerNames(graph, name)});
}

QuantizationConfig withoutOffRules(QuantizationConfig config) {
    std::erase_if(config.rules, &SkipRule::off);
    std::erase_if(config.precisionRules, [](const PrecisionRule& rule) { return rule.covers.off; });
    return config;
}

SkipDecisions resolveSkips(const Graph& source, const QuantizationConfig& config) {
    SkipDecisions decisions;
    decisions.reasons.resize(source.nodeCount());
    for (std::size_t r = 0; r < config.rules.size(); ++r) {
        const std::string words = describe(config.rules[r]);
        if (config.rules[r].off) {
            decisions.covered.emplace_back(source.nodeCount(), false);
            continue;
        }
        try {
            decisions.covered.push_back(coveredBy(source, config.rules[r]));
        } catch (Error& error) {
            error.addContext(fmt::format("skip rule {} ({})", r + 1, words));
            throw;
        }
        explain(decisions, decisions.covered.back(), fmt::format("skipped by rule {}: {}", r + 1, words));
    }
    if (config.skipTail) {
        Tail tail = tailToSkip(source, config.wholeTail);
        decisions.tailNotice = std::move(tail.whyNot);
        if (decisions.tailNotice.empty()) {
            decisions.covered.push_back(std::move(tail.nodes));
            explain(decisions, decisions.covered.back(),
                    "skipped as part of the tail: the last weighted layer and everything after it");
        }
    }
    decisions.float16.resize(source.nodeCount());
    addPrecisionRules(source, config, decisions);
    for (const auto& [name, settings] : config.layers) {
        NodeId node;
        try {
            node = needLayer(source, name);
        } catch (Error& error) {
            error.addContext("settings of layers");
            throw;
        }
        if (!settings.quantize && !settings.precision) continue;
        decisions.reasons[node.index()] = ownReason(settings);
        decisions.float16[node.index()] = settings.precision == Precision::float16();
    }
    return decisions;
}

}  // namespace quantloupe
