// SPDX-License-Identifier: Apache-2.0
#pragma once
// transforms.equalization of the configuration's JSON. Internal to engine/config.

#include <nlohmann/json.hpp>

#include "config/object_reader.h"
#include "config/quantization_config.h"

namespace quantloupe {

/// Throws Error for a bad value or unknown key. `allKeys` as for ObjectReader.
void readEqualization(ObjectReader reader, EqualizationOptions& options, const std::vector<std::string>& allKeys);
nlohmann::ordered_json equalizationJson(const EqualizationOptions& options);

}  // namespace quantloupe
