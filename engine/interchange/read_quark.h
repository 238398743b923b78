// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the two readers of Quark's settings share.

#include <optional>
#include <string>
#include <vector>

#include "interchange/dialect.h"

namespace quantloupe {

/// Names of nodes or of tensors that they make, and regular expressions ("^...").
void takeQuarkExclusions(const Graph& graph, const std::vector<std::string>& names, ImportResult& result);
/// Starts and ends of a sub-graph, both included, become leave-until rules.
void takeQuarkSubgraph(const Graph& graph, const std::vector<std::string>& starts, const std::vector<std::string>& ends,
                       ImportResult& result);
/// "Int8", "UInt16". False for another type: the caller says so.
bool takeIntegerType(std::string_view name, int& bits, bool& isSigned);
/// "MinMSE", "MinMax", with or without powers of two. False for a method that there is not.
bool takeQuarkMethod(std::string_view name, bool powerOfTwo, QuantizationConfig& config);
/// Which operators Quark quantizes, and, in its NPU mode, how the NPU computes and what it asks of positions.
void takeQuarkNpu(bool npu, QuantizationConfig& config);
/// The rule or conversion of the NPU mode that an extra option turns off; null for other options.
bool* quarkNpuFlag(std::string_view option, QuantizationConfig& config);
ImportResult readQuarkScript(const ImportSource& source);
ImportResult readQuarkJson(const ImportSource& source);

}  // namespace quantloupe
