// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configuration as JSON (schema: docs/config.schema.json) and single keys of it.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "config/quantization_config.h"

namespace quantloupe {

/// All keys written, two-space indent, stable order, a newline at the end.
std::string configToJson(const QuantizationConfig& config);
/// Missing keys take their defaults; a "preset" key is applied first. Throws Error naming the key for an
/// unknown or duplicate key, a wrong type, a value out of range, or a value that this version cannot do.
QuantizationConfig configFromJson(std::string_view text);

QuantizationConfig loadConfig(const std::filesystem::path& path);
void saveConfig(const QuantizationConfig& config, const std::filesystem::path& path);

/// The parameters of calibration methods that are set, as JSON.
nlohmann::ordered_json calibrationParametersToJson(const CalibrationParameters& parameters);
/// Throws Error naming the key for an unknown key or a value that is not allowed. Any parameter is accepted
/// with any method.
CalibrationParameters calibrationParametersFromJson(const nlohmann::json& json);

/// Sets one key by its dotted path: ("quantization.weight.bits", "4"). The value is JSON; what is not JSON
/// counts as a string. Throws Error for an unknown key or a bad value and leaves the configuration as it was.
void setConfigKey(QuantizationConfig& config, std::string_view path, std::string_view value);

}  // namespace quantloupe
