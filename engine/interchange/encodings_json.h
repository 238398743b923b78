// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encodings 0.6.1, which AIMET and Qualcomm's converters share.

#include <nlohmann/json.hpp>

#include "interchange/tensor_encodings.h"

namespace quantloupe {

/// A list with one object a scale.
nlohmann::ordered_json encodingEntries(const TensorEncoding& encoding);
/// Indented, with a newline at the end. Throws Error for text that is not UTF-8.
std::string dumpedJson(const nlohmann::ordered_json& json, int indent = 2);

}  // namespace quantloupe
