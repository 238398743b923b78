// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration of a model that changed since: its layers under their new names.

#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "session/layer_match.h"

namespace quantloupe {

struct AdaptedConfig {
    QuantizationConfig config;
    std::vector<std::string> dropped;  ///< in words: what named layers that are no more, or has no effect now
};

/// The result makes sense for `graph`: resolveSkips() does not throw.
AdaptedConfig adaptConfig(const QuantizationConfig& config, const LayerMatch& match, const Graph& graph);

}  // namespace quantloupe
