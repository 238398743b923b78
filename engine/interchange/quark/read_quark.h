// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared parts of the two readers of Quark's settings.

#include <functional>
#include <string>
#include <vector>

#include "config/config_json.h"
#include "interchange/file_format.h"

namespace quantloupe {

/// Settings that Quark's files do not contain become what Quark does; a calibration method that is not in the
/// file stays.
void startQuarkImport(QuantizationConfig& config);
/// Adds skip rules for names of nodes or of their output tensors, and for regular expressions ("^...").
void takeQuarkExclusions(const ImportSource& source, const std::vector<std::string>& names,
                         ImportResult& result);
/// Adds skip-until rules for a subgraph, given by its first and last nodes (both included).
void takeQuarkSubgraph(const ImportSource& source, const std::vector<std::string>& starts,
                       const std::vector<std::string>& ends, ImportResult& result);
/// Parses "Int8", "UInt16" and so on. Returns false for another type, which the caller must report.
bool takeIntegerType(std::string_view name, int& bits, bool& isSigned);
/// Sets the method "MinMSE", "MinMax" and so on, with or without power-of-two scales. Returns false for an
/// unknown method.
bool takeQuarkMethod(std::string_view name, bool powerOfTwo, QuantizationConfig& config);
/// Sets the operators that Quark quantizes and, in its NPU mode, the NPU's operator implementations and scale
/// constraints.
void takeQuarkNpu(bool npu, QuantizationConfig& config);
/// Applies an extra option for biases or the NPU. Calls `value` only for such an option; returns false for
/// others.
bool takeQuarkFlag(std::string_view option, const std::function<bool()>& value, QuantizationConfig& config);
/// Applies an extra option for the calibration; call it after takeQuarkMethod(). Returns false for other
/// options and for values that the setting cannot have.
bool takeQuarkCalibration(std::string_view option, const Json& value, QuantizationConfig& config);
ImportResult readQuarkScript(const ImportSource& source);
ImportResult readQuarkJson(const ImportSource& source);

}  // namespace quantloupe
