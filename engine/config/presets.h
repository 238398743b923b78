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

}  // namespace quantloupe
