// SPDX-License-Identifier: Apache-2.0
#pragma once
// Determines the precision of each layer from the configuration.
//
// Precedence, highest first: the layer's own `precision` or `quantize`; its own weight.bits and
// activation.bits; the last precision rule that covers it; the bits of the network. A layer that is covered
// by a skip rule or the tail stays in float; a precision rule can only change it to float16. A layer's own
// integer precision takes precedence over skip rules, like `quantize: true`.

#include <optional>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"

namespace quantloupe {

/// Describes a rule: "w8a16 for all Conv layers".
std::string describe(const PrecisionRule& rule);

/// Returns for each node of the source graph the index of the precision rule that applies to it; empty if no
/// rule covers it. Throws the errors of resolveSkips() for a rule that does not fit the graph.
std::vector<std::optional<std::size_t>> coveringPrecisionRules(const Graph& source,
                                                               const QuantizationConfig& config);

/// Returns the precision of a layer according to its own settings and the bits of the network, without rules.
Precision precisionOf(const QuantizationConfig& config, const std::string& layer);
/// Returns the precision of every node of the source graph, with all rules. This ignores that an operator may
/// not be quantizable and that a layer may be folded or fused; LayerResult::precision takes this into
/// account. Throws the errors of resolveSkips().
std::vector<Precision> precisionsOf(const Graph& source, const QuantizationConfig& config);

/// Returns whether the precision of a layer or an enabled precision rule is set.
bool hasPrecisions(const QuantizationConfig& config);
/// Returns the configuration with every precision rule replaced by settings of the layers that it applies to.
/// The bits of each layer's own integer precision are also written to weight.bits and activation.bits.
/// States, weights and scales do not change. Throws the errors of resolveSkips().
QuantizationConfig withPrecisionsResolved(const Graph& source, QuantizationConfig config);

}  // namespace quantloupe
