// SPDX-License-Identifier: Apache-2.0
#pragma once
// Named configurations to start from.

#include <string>
#include <string_view>
#include <vector>

#include "config/quantization_config.h"

namespace quantloupe {

struct PresetInfo {
    std::string name;
    std::string description;  ///< one line
};
const std::vector<PresetInfo>& presets();
/// Returns the configuration of a preset. Throws Error with the list of presets if the name is unknown.
QuantizationConfig presetConfig(std::string_view name);

/// Returns the preset's configuration with those fields of `config` that name layers of the model, such as
/// rules and settings of layers. Throws the errors of presetConfig().
QuantizationConfig withPreset(const QuantizationConfig& config, std::string_view name);

/// Returns the transforms of AIMET's equalize_model: batch norms folded, Clip(0, 6) between convolutions
/// replaced by Relu, one pass of AIMET's equalization, high-bias fold. Keeps `simplify` and `skipFolding`.
TransformOptions aimetEqualizeModel(TransformOptions transforms);

}  // namespace quantloupe
