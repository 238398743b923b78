// SPDX-License-Identifier: Apache-2.0
#pragma once
// A layer's own settings: set for many layers at once, copied and pasted, and equalization switched for a set
// of layers.

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

/// Returns the settings without the comment, as the text of a configuration of this one layer, which other
/// windows can read, too.
QString settingsToText(const LayerSettings& settings);
/// Reads such a text; empty if the text is something else.
std::optional<LayerSettings> settingsFromText(const QString& text);
/// Keeps the comments.
ConfigEdit pasteSettings(const QuantizationConfig& config, const std::vector<std::string>& names,
                         const LayerSettings& settings);
/// "4-bit weights, IFMR"; "" for none.
QString describeSettings(const LayerSettings& settings);

/// Layers among `names` with a batch norm after them keep it, or have it folded into them again
/// (transforms.skip_folding).
ConfigEdit keepBatchNorms(const QuantizationConfig& config, const Graph& graph,
                          const std::vector<std::string>& names, bool keep);

/// Excludes an equalization group from equalization, or includes it again.
ConfigEdit switchEqualization(const QuantizationConfig& config, const std::vector<std::string>& set, bool on);

}  // namespace quantloupe::ui
