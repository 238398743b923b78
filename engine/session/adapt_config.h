// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adapts a configuration to a changed model: renames its layers.

#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "session/layer_match.h"

namespace quantloupe {

struct AdaptedConfig {
    QuantizationConfig config;
    std::vector<std::string> dropped;  ///< descriptions of the settings dropped because their layers are gone
};

/// Returns a configuration that is valid for `graph`: resolveSkips() does not throw.
AdaptedConfig adaptConfig(const QuantizationConfig& config, const LayerMatch& match, const Graph& graph);

}  // namespace quantloupe
