// SPDX-License-Identifier: Apache-2.0
#pragma once
// A layer's own settings: set for many layers at once, copied and pasted, and equalization switched for a set of layers.

#include <QString>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/config_edits.h"

namespace quantloupe::ui {

/// `change` alters the settings of each; a layer without any setting afterwards is forgotten.
ConfigEdit changeLayers(const QuantizationConfig& config, const std::vector<std::string>& names, const QString& text,
                        const std::function<void(LayerSettings&)>& change, int mergeKey = -1);

/// The settings without the comment, as the text of a configuration of that one layer; also other windows read it.
QString settingsToText(const LayerSettings& settings);
/// The reverse; empty if the text is nothing of that kind.
std::optional<LayerSettings> settingsFromText(const QString& text);
/// Comments stay.
ConfigEdit pasteSettings(const QuantizationConfig& config, const std::vector<std::string>& names, const LayerSettings& settings);
/// "4-bit weights, IFMR"; "" for none.
QString describeSettings(const LayerSettings& settings);

/// Layers among `names` with a batch norm behind them keep it, or have it folded into them again
/// (transforms.skip_folding).
ConfigEdit keepBatchNorms(const QuantizationConfig& config, const Graph& graph,
                          const std::vector<std::string>& names, bool keep);

/// Takes the set of layers out of equalization, or lets it take part again.
ConfigEdit switchEqualization(const QuantizationConfig& config, const std::vector<std::string>& set, bool on);

}  // namespace quantloupe::ui
