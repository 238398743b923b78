// SPDX-License-Identifier: Apache-2.0
#include "config/presets.h"

#include "base/error.h"

namespace quantloupe {

const std::vector<PresetInfo>& presets() {
    static const std::vector<PresetInfo> kPresets = {
        {"default",
         "8-bit weights, symmetric, per tensor; 8-bit affine activations; the model's tail stays in float"},
        {"w4a8",
         "4-bit weights, symmetric, per tensor; 8-bit affine activations; the tail is quantized, too"},
    };
    return kPresets;
}

QuantizationConfig presetConfig(std::string_view name) {
    QuantizationConfig config;
    config.preset = name;
    if (name == "default") return config;
    if (name == "w4a8") {
        config.quantization.weight.bits = 4;
        config.skipTail = false;
        return config;
    }
    std::string names;
    for (const PresetInfo& preset : presets()) names += (names.empty() ? "" : ", ") + preset.name;
    failInput("there is no preset '{}'; there are: {}", name, names);
}

}  // namespace quantloupe
