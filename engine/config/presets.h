// SPDX-License-Identifier: Apache-2.0
#pragma once
// Named starting points.

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
/// Throws Error with the list of names for an unknown one.
QuantizationConfig presetConfig(std::string_view name);

/// Starts anew from a preset. Fields that name layers of the model are kept: rules, settings of layers and
/// the like. Throws as presetConfig() does.
QuantizationConfig withPreset(const QuantizationConfig& config, std::string_view name);

/// The transforms of AIMET's equalize_model: batch norms folded, Clip(0, 6) between convolutions to Relu, one
/// pass of its equalization, high-bias fold. Simplification and the layers that keep their batch norm stay as
/// they are.
TransformOptions aimetEqualizeModel(TransformOptions transforms);

}  // namespace quantloupe
