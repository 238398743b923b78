// SPDX-License-Identifier: Apache-2.0
#pragma once
// Configuration edits for the user's actions: functions that return the changed configuration and the text
// for the undo menu. They do not run the engine.

#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"
#include "results/evaluation.h"

namespace quantloupe::ui {

struct ConfigEdit {
    QuantizationConfig next;
    QString text;       ///< "Skip Conv_3"; for the undo menu
    QString complaint;  ///< why the edit does nothing; `next` is then the unchanged configuration
    int mergeKey = -1;  ///< edits with the same key are merged if they follow each other quickly; -1: never
};

enum MergeKey { kMergeWeightBits = 1, kMergeActivationBits = 2 };

/// Creates an edit. `change` modifies a copy of the configuration.
template <typename Change>
ConfigEdit changeConfig(const QuantizationConfig& config, const QString& text, Change change,
                        int mergeKey = -1) {
    ConfigEdit edit{config, text, {}, mergeKey};
    change(edit.next);
    return edit;
}

/// Returns the configuration without everything that changes no results: comments, export options, the name
/// of the preset, and rules that are off.
QuantizationConfig withoutCosmeticFields(const QuantizationConfig& config);
/// Whether the configurations have the same results, apart from the numbers of rules in their texts.
bool haveSameResults(const QuantizationConfig& a, const QuantizationConfig& b);

/// Keeps the layers in float: removes their "always quantize" settings and adds one rule of kind node.
ConfigEdit skipLayers(const QuantizationConfig& config, const std::vector<std::string>& names);
/// Removes the layers from the node rules; sets quantize = true for layers that another rule or the tail
/// still covers.
ConfigEdit quantizeLayers(const Graph& graph, const QuantizationConfig& config,
                          const std::vector<std::string>& names);
/// The action of the Space key: skips all layers if any of them is quantized, otherwise quantizes all of
/// them. A folded or fused layer is replaced by its host. `layers` are the results of the evaluation, one per
/// node; empty if there is none yet.
ConfigEdit toggleLayers(const Graph& graph, const QuantizationConfig& config,
                        const std::vector<LayerResult>& layers, const std::vector<NodeId>& nodes);

/// Sets the precision of the layers, or removes it (empty). Layers are handled as by toggleLayers().
ConfigEdit setPrecision(const Graph& graph, const QuantizationConfig& config,
                        const std::vector<LayerResult>& layers, const std::vector<NodeId>& nodes,
                        const std::optional<Precision>& precision);
/// "W8A16", "float16".
QString precisionText(const Precision& precision);

/// Skips the layers between two layers, given in any order.
ConfigEdit skipUntil(const Graph& graph, const QuantizationConfig& config, NodeId one, NodeId other);
/// Skips the layers from `from` to each of the ends. With several ends, all of them must be downstream of it.
ConfigEdit skipUntil(const Graph& graph, const QuantizationConfig& config, NodeId from,
                     const std::vector<NodeId>& ends);
ConfigEdit skipDownstream(const Graph& graph, const QuantizationConfig& config, NodeId from);
ConfigEdit skipType(const QuantizationConfig& config, const std::string& op);
ConfigEdit skipPattern(const QuantizationConfig& config, const std::string& regex);
/// Skips all blocks with the structure of `like`: a scope, or a layer's name (model/blocks.h).
ConfigEdit skipBlocks(const QuantizationConfig& config, const std::string& like);
/// Adds an existing rule of any kind.
ConfigEdit addSkipRule(const QuantizationConfig& config, const SkipRule& rule);
/// Disables the rule without removing it, or enables it again.
ConfigEdit switchRule(const QuantizationConfig& config, std::size_t index, bool on);
ConfigEdit removeRule(const QuantizationConfig& config, std::size_t index);
ConfigEdit setTail(const QuantizationConfig& config, bool skip);
/// Removes "always quantized" or "always float" from a layer.
ConfigEdit clearLayerChoice(const QuantizationConfig& config, const std::string& name);
/// Applies the settings of a preset; keeps rules, layer settings and comments.
ConfigEdit applyPreset(const QuantizationConfig& config, const std::string& name);
/// Returns whether the configuration differs from its preset in a setting that the preset defines.
bool differsFromPreset(const QuantizationConfig& config);

}  // namespace quantloupe::ui
