// SPDX-License-Identifier: Apache-2.0
#pragma once
// AMCT's simplified configuration: protobuf text that create_quant_config takes as config_defination.

#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "interchange/amct_document.h"

namespace quantloupe {

/// What an export has decided for one layer.
struct AmctExportEntry {
    std::string name;
    bool enabled = false;
    bool hasWeight = true;
    AmctActivation activation;
    AmctWeight weight;
};

/// What most enabled layers have stands in common_config, the rest in override_layer_configs; operators of which no layer is enabled are
/// skip_layer_types, other layers in float skip_layers.
std::string amctSimpleText(const Graph& graph, const QuantizationConfig& config,
                           const std::vector<std::string>& unfused,
                           const std::vector<AmctExportEntry>& entries, std::int64_t batches);

}  // namespace quantloupe
