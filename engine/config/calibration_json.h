// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parameters of calibration methods as JSON.

#include <nlohmann/json.hpp>

#include "config/calibration_config.h"
#include "config/object_reader.h"

namespace quantloupe {

/// null clears, so that a key can be unset.
template <typename Value, typename Read>
void readOptional(ObjectReader& reader, std::string_view key, std::optional<Value>& target, Read read) {
    const Json* value = reader.find(key);
    if (value == nullptr) return;
    target.reset();
    if (value->is_null()) return;
    Value result{};
    read(key, result);
    target = result;
}

/// Any parameter may be there with any method: one that the method does not know waits for the method that does. Throws Error.
void readCalibrationParameters(ObjectReader reader, CalibrationParameters& parameters);
/// Only what is set.
nlohmann::ordered_json calibrationParametersJson(const CalibrationParameters& parameters);

}  // namespace quantloupe
