// SPDX-License-Identifier: Apache-2.0
#pragma once
// AMCT's simplified configuration: protobuf text, passed to create_quant_config as config_defination.

#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "interchange/amct/amct_document.h"

namespace quantloupe {

/// The exported settings of one layer.
struct AmctExportEntry {
    std::string name;
    bool enabled = false;
    bool hasWeight = true;
    AmctActivation activation;
    AmctWeight weight;
};

/// Writes the most common settings to common_config and all others to override_layer_configs. Operators
/// without an enabled layer become skip_layer_types, other float layers skip_layers.
std::string amctSimpleText(const Graph& graph, const QuantizationConfig& config,
                           const std::vector<std::string>& unfused,
                           const std::vector<AmctExportEntry>& entries, std::int64_t batches);

}  // namespace quantloupe
