// SPDX-License-Identifier: Apache-2.0
#pragma once
// transforms.equalization of the configuration's JSON. Internal to engine/config.

#include <nlohmann/json.hpp>

#include "config/object_reader.h"
#include "config/quantization_config.h"

namespace quantloupe {

/// Limit of transforms.equalization.steps, on the command line and in the files of other tools as well. It is
/// Quark's.
inline constexpr int kMostEqualizationSteps = 1000;

/// Throws Error for a bad value or unknown key. `allKeys` as for ObjectReader.
void readEqualization(ObjectReader reader, EqualizationOptions& options, const std::vector<std::string>& allKeys);
nlohmann::ordered_json equalizationJson(const EqualizationOptions& options);

}  // namespace quantloupe
