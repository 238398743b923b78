// SPDX-License-Identifier: Apache-2.0
#pragma once
// AMCT's config.json: one complete entry for each quantizable layer, quant_enable as tuned.

#include <filesystem>
#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "session/evaluation.h"
#include "transform/prepare.h"

namespace quantloupe {

struct AmctExport {
    std::string json;
    /// What AMCT cannot express, in words: "AMCT does not quantize Add: 10 layers are left out".
    std::vector<std::string> notices;
};

/// `layers` are Evaluation::layers (states are enough). Throws Error if no layer is left enabled (AMCT refuses that) or a
/// layer's name is one of AMCT's own keys.
AmctExport exportAmct(const Prepared& prepared, const QuantizationConfig& config,
                      const std::vector<LayerResult>& layers);

}  // namespace quantloupe
