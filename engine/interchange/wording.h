// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sentences that several dialects say.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "interchange/dialect.h"

namespace quantloupe {

/// "1 layer", "2 layers".
std::string counted(std::size_t count, std::string_view what);
/// "a, b, c, d and 3 more".
std::string shortList(const std::vector<std::string>& names);
/// As JSON writes it. Throws Error for text that is not UTF-8.
std::string jsonQuoted(const std::string& text);

/// One notice a rule that the tool lacks: "AMCT has no leave-until rule: resolved to 14 layers (from A until B)". `known`: the
/// kinds that it has; `tail`: whether it knows how to leave the tail.
std::vector<std::string> ruleNotices(const ExportSource& source, std::string_view tool, const std::set<SkipKind>& known = {},
                                     bool tail = false);
/// Transforms that the configuration does beside folding batch norms: "equalization", "the replacement of Clip(0, 6)".
std::vector<std::string> otherTransforms(const QuantizationConfig& config);

/// What the configuration does to weights and biases with data, and where it quantizes, if the tool's configuration cannot hold it.
std::vector<std::string> previewNotices(const ExportSource& source, std::string_view tool);

/// Where the preview rounds as AIMET does and `tool` rounds halves to even.
std::vector<std::string> roundingNotices(const QuantizationConfig& config, std::string_view tool);

/// Copies the names that the graph has as nodes; says of each other one that it is not there, with near names.
std::vector<std::string> knownLayers(const Graph& graph, const std::vector<std::string>& names, std::vector<std::string>& left);
/// For files that name every layer in float: no rules, no tail, no choices of single layers are left from before.
void forgetSkips(QuantizationConfig& config);
/// Adds a rule that keeps the layers in float, and says so. Nothing for no layers.
void takeSkips(const std::vector<std::string>& names, ImportResult& result);

}  // namespace quantloupe
