// SPDX-License-Identifier: Apache-2.0
#pragma once
// Edits of the configuration that skip or quantize given layers, or choose their precision.

#include <optional>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"

namespace quantloupe {

/// Returns the configuration with the layers kept in float: clears their own settings and adds one rule of
/// kind node.
QuantizationConfig withLayersSkipped(QuantizationConfig config, const std::vector<std::string>& names);
/// Returns the configuration with the layers quantized: removes them from the node rules and sets quantize =
/// true for those that another rule or the tail still covers. Throws the errors of resolveSkips().
QuantizationConfig withLayersQuantized(const Graph& graph, QuantizationConfig config,
                                       const std::vector<std::string>& names);
/// Returns the configuration with this precision for the layers: replaces their `quantize` and bits, and
/// removes them from rules that skip single layers.
QuantizationConfig withPrecision(QuantizationConfig config, const std::vector<std::string>& names,
                                 const Precision& precision);
/// Returns the configuration without the precisions of these layers, so that rules determine them again.
QuantizationConfig withoutPrecision(QuantizationConfig config, const std::vector<std::string>& names);
/// Sets or clears `quantize` of a layer, and clears a precision that contradicts it. Removes the layer's
/// entry if no setting is left.
void setLayerChoice(QuantizationConfig& config, const std::string& name, std::optional<bool> quantize);
/// Throws Error with similar names for the first name that the graph does not contain.
void requireLayers(const Graph& graph, const std::vector<std::string>& names);

}  // namespace quantloupe
