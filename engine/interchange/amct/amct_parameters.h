// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads activation_quant_params and weight_quant_params of one layer in AMCT's config.json, with AMCT's
// defaults.

#include "config/object_reader.h"
#include "interchange/amct/amct_document.h"
#include "interchange/amct/amct_layers.h"

namespace quantloupe {

/// Both throw Error naming the parameter, the layer and the expected value.
AmctActivation readAmctActivation(const Json& value, const std::string& layer);
AmctWeight readAmctWeight(const Json& value, const std::string& layer, const Node& node,
                          const AmctLayer& can);

}  // namespace quantloupe
