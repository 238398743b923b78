// SPDX-License-Identifier: Apache-2.0
#pragma once
// Edits of layer settings: changes for many layers at once, copy and paste, and equalization of a group of
// layers.

#include <QString>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/config_edits.h"

namespace quantloupe::ui {

/// Applies `change` to the settings of each layer; removes layers that have no settings afterwards.
ConfigEdit changeLayers(const QuantizationConfig& config, const std::vector<std::string>& names,
                        const QString& text, const std::function<void(LayerSettings&)>& change,
                        int mergeKey = -1);

/// Returns the settings without the comment, as the text of a configuration for this one layer, which other
/// windows can also read.
QString settingsToText(const LayerSettings& settings);
/// Reads a text from settingsToText(); empty if the text is something else.
std::optional<LayerSettings> settingsFromText(const QString& text);
/// Replaces the settings of the layers, but keeps their comments.
ConfigEdit pasteSettings(const QuantizationConfig& config, const std::vector<std::string>& names,
                         const LayerSettings& settings);
/// Describes the settings: "4-bit weights, IFMR"; empty if there are none.
QString describeSettings(const LayerSettings& settings);

/// Returns the batch norm that is the only reader of the layer's output; invalid if there is none.
NodeId batchNormAfter(const Graph& graph, NodeId layer);
/// Whether the batch norm after the layer, or that is the layer, is kept: by its own name or by the layer's.
bool keepsBatchNorm(const QuantizationConfig& config, const Graph& graph, NodeId node);
/// Keeps the batch norms after the layers `names`, or has them folded again (transforms.skip_folding).
ConfigEdit keepBatchNorms(const QuantizationConfig& config, const Graph& graph,
                          const std::vector<std::string>& names, bool keep);

/// Excludes an equalization group from equalization, or includes it again.
ConfigEdit switchEqualization(const QuantizationConfig& config, const std::vector<std::string>& set, bool on);

}  // namespace quantloupe::ui
