// SPDX-License-Identifier: Apache-2.0
#pragma once
// What "skip these layers" and "quantize these layers" do to the configuration: from one value to the next.

#include <optional>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"

namespace quantloupe {

/// Keeps the layers in float: takes back what says "always quantize" and adds one rule of kind node.
QuantizationConfig withLayersSkipped(QuantizationConfig config, const std::vector<std::string>& names);
/// Takes the layers out of the node rules; where another rule or the tail still covers one, sets quantize =
/// true. Throws Error as resolveSkips() does.
QuantizationConfig withLayersQuantized(const Graph& graph, QuantizationConfig config,
                                       const std::vector<std::string>& names);
/// Sets or takes back a layer's own choice; a layer without any setting is forgotten.
void setLayerChoice(QuantizationConfig& config, const std::string& name, std::optional<bool> quantize);
/// Throws Error with near names for the first that the graph does not have.
void requireLayers(const Graph& graph, const std::vector<std::string>& names);

}  // namespace quantloupe
