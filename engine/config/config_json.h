// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conversion of the configuration to and from JSON (schema: docs/config.schema.json), and setting of single
// keys.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"
#include "config/quantization_config.h"

namespace quantloupe {

/// Writes all keys in a fixed order, indented by two spaces, with a newline at the end.
std::string configToJson(const QuantizationConfig& config);
/// Reads a configuration. Missing keys have their defaults; the key "preset" is applied first. Throws Error
/// naming the key if it is unknown or duplicate, or if its value has the wrong type, is out of range or is
/// not supported by this version.
QuantizationConfig configFromJson(std::string_view text);

QuantizationConfig loadConfig(const std::filesystem::path& path);
void saveConfig(const QuantizationConfig& config, const std::filesystem::path& path);

/// Returns the calibration parameters that are set, as JSON.
OrderedJson calibrationParametersToJson(const CalibrationParameters& parameters);
/// Reads calibration parameters, whichever method they belong to. Throws Error naming the key if it is
/// unknown or its value is not allowed.
CalibrationParameters calibrationParametersFromJson(const Json& json);

/// Sets one key by its dotted path: ("quantization.weight.bits", "4"). A value that is not valid JSON is
/// taken as a string. Throws Error for an unknown key or an invalid value; the configuration is unchanged in
/// that case.
void setConfigKey(QuantizationConfig& config, std::string_view path, std::string_view value);

}  // namespace quantloupe
