// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which precision the configuration gives each layer.
//
// Precedence, highest first: the layer's own `precision` or `quantize`; its own weight.bits and
// activation.bits; the last precision rule that covers it; the bits of the network. A layer that a skip rule
// or the tail covers stays in float; a precision rule can only choose float16 for it. A layer's own integer
// precision takes precedence over skip rules, like `quantize: true`.

#include <optional>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"

namespace quantloupe {

/// Describes a rule: "w8a16 for all Conv layers".
std::string describe(const PrecisionRule& rule);

/// Returns for each node of the source graph the position of the precision rule that decides on it; empty if
/// none covers it. Throws the errors of resolveSkips() for a rule that does not fit the graph.
std::vector<std::optional<std::size_t>> coveringPrecisionRules(const Graph& source,
                                                               const QuantizationConfig& config);

/// Returns the precision of a layer according to its own settings and the bits of the network, without rules.
Precision precisionOf(const QuantizationConfig& config, const std::string& layer);
/// Returns the precision of every node of the source graph, with all rules. Layers whose operator cannot be
/// quantized, and layers that are folded or fused, are treated like all others: LayerResult::precision knows
/// better. Throws the errors of resolveSkips().
std::vector<Precision> precisionsOf(const Graph& source, const QuantizationConfig& config);

/// Whether a layer's own precision or an enabled rule is set.
bool hasPrecisions(const QuantizationConfig& config);
/// Returns the configuration with every precision rule replaced by settings of the layers that it decides on,
/// and with the bits of each own integer precision in weight.bits and activation.bits. States, weights and
/// scales do not change. Throws the errors of resolveSkips().
QuantizationConfig withPrecisionsResolved(const Graph& source, QuantizationConfig config);

}  // namespace quantloupe
