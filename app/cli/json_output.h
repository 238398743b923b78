// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON on stdout. Rates are fractions, times are wall seconds. An infinite or undefined number is null, and
// the key "reason" next to it says why.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/graph.h"
#include "results/evaluation.h"

namespace quantloupe::cli {

using Json = nlohmann::ordered_json;

/// Sets the key "macs": null with a reason if the number is unknown.
void setMacs(Json& object, std::uint64_t macs, const std::string& reason);
/// Sets a number. Without a finite number it sets null and appends the cause to "reason": `missing` if there
/// is no value, `infinite` if it is infinite.
void setNumber(Json& object, const std::string& key, const std::optional<double>& value,
               const std::string& missing, const std::string& infinite = "infinite");

/// Prints the JSON document of a command.
void printJson(const Json& document);

Json toJson(const StateCounts& counts);
Json toJson(const StageSeconds& seconds);
Json toJson(const LayerResult& layer);
Json toJson(const TensorDifference& difference);

enum class Role { Floating, Prepared, Quantized };
/// Contains the keys of this role. Without an accuracy they are null, with a reason.
Json toJson(const std::optional<Accuracy>& accuracy, Role role);

/// Everything about a configuration except "model", as analyze prints it.
Json toJson(const Evaluation& evaluation);

/// A list of extents: a symbolic one as its name, an unknown one as null. Null without a shape.
Json toJson(const std::optional<Shape>& shape);
Json toJson(const AttributeValue& value);

}  // namespace quantloupe::cli
