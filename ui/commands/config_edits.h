// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the person's gestures do to the configuration: functions from one value to the next, and the words for
// the undo menu. Nothing here runs the engine.

#include <QString>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"
#include "session/evaluation.h"

namespace quantloupe::ui {

struct ConfigEdit {
    QuantizationConfig next;
    QString text;       ///< "Skip Conv_3"; for the undo menu
    QString complaint;  ///< why there is nothing to do; then `next` is what it was
    int mergeKey = -1;  ///< edits with the same key and not long after each other become one; -1: never
};

enum MergeKey { kMergeWeightBits = 1, kMergeComment = 2, kMergeActivationBits = 3 };

/// `change` alters a copy of the configuration.
template <typename Change>
ConfigEdit changeConfig(const QuantizationConfig& config, const QString& text, Change change, int mergeKey = -1) {
    ConfigEdit edit{config, text, {}, mergeKey};
    change(edit.next);
    return edit;
}

/// Keeps the layers in float: takes back what says "always quantize", and adds one rule of kind node.
ConfigEdit skipLayers(const QuantizationConfig& config, const std::vector<std::string>& names);
/// Takes the layers out of the node rules; where another rule or the tail still covers one, sets quantize =
/// true.
ConfigEdit quantizeLayers(const Graph& graph, const QuantizationConfig& config,
                          const std::vector<std::string>& names);
/// Space: skips all of them if any is quantized, quantizes all otherwise. A folded or fused layer stands for
/// its host. `layers` are the evaluation's, one a node; empty if there is none yet.
ConfigEdit toggleLayers(const Graph& graph, const QuantizationConfig& config,
                        const std::vector<LayerResult>& layers, const std::vector<NodeId>& nodes);

/// From the one to the other, whichever comes first in the data's direction.
ConfigEdit skipUntil(const Graph& graph, const QuantizationConfig& config, NodeId one, NodeId other);
/// From the layer to each of the ends. With one end as above; with several, all must come after it.
ConfigEdit skipUntil(const Graph& graph, const QuantizationConfig& config, NodeId from,
                     const std::vector<NodeId>& ends);
ConfigEdit skipDownstream(const Graph& graph, const QuantizationConfig& config, NodeId from);
ConfigEdit skipType(const QuantizationConfig& config, const std::string& op);
ConfigEdit skipPattern(const QuantizationConfig& config, const std::string& regex);
/// All blocks built like `like`: a scope, or a layer's name (model/blocks.h).
ConfigEdit skipBlocks(const QuantizationConfig& config, const std::string& like);
/// A rule that is made already, of whichever kind.
ConfigEdit addSkipRule(const QuantizationConfig& config, const SkipRule& rule);
/// Switches the rule off, which keeps it for later, or on again.
ConfigEdit switchRule(const QuantizationConfig& config, std::size_t index, bool on);
ConfigEdit removeRule(const QuantizationConfig& config, std::size_t index);
ConfigEdit setTail(const QuantizationConfig& config, bool skip);
/// Forgets "always quantize" and "never quantize" of a layer.
ConfigEdit clearLayerChoice(const QuantizationConfig& config, const std::string& name);
/// The preset's decisions; rules, layer settings and comments stay.
ConfigEdit applyPreset(const QuantizationConfig& config, const std::string& name);
/// True where the configuration differs from its preset in what the preset decides.
bool differsFromPreset(const QuantizationConfig& config);

}  // namespace quantloupe::ui
