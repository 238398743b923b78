// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two kinds of JSON values. JSON from outside is parsed by base/strict_json.h.

#include <nlohmann/json.hpp>

namespace quantloupe {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // keeps the order of the keys

}  // namespace quantloupe
