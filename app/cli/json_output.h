// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON on stdout. Rates are fractions, times are wall seconds; a number that is infinite or undefined is null
// and "reason" beside it says why.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/graph.h"
#include "session/evaluation.h"

namespace quantloupe::cli {

using Json = nlohmann::ordered_json;

/// The key "macs", null with a reason where they are not known.
void setMacs(Json& object, std::uint64_t macs, const std::string& reason);
/// Sets a number, or null and adds to "reason" beside it why: `missing` where there is none, `infinite` where it is that.
void setNumber(Json& object, const std::string& key, const std::optional<double>& value, const std::string& missing,
               const std::string& infinite = "infinite");

/// Prints the one document of a command.
void printJson(const Json& document);

Json toJson(const StateCounts& counts);
Json toJson(const StageSeconds& seconds);
Json toJson(const LayerResult& layer);
Json toJson(const TensorDifference& difference);

enum class Role { Floating, Prepared, Quantized };
/// The keys that this role has; an accuracy that was not measured gives nulls with a reason.
Json toJson(const std::optional<Accuracy>& accuracy, Role role);

/// Extents; a symbol stands as its text, an unknown one as null. Null without a shape.
Json toJson(const std::optional<Shape>& shape);
Json toJson(const AttributeValue& value);

}  // namespace quantloupe::cli
