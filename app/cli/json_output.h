// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON on stdout. Rates are fractions, times are wall seconds. An infinite or undefined number is null, and
// the key "reason" next to it says why.

#include <optional>
#include <span>
#include <string>

#include "base/json.h"
#include "model/graph.h"
#include "results/evaluation.h"

namespace quantloupe::cli {

/// Sets the key "macs": null with a reason if the number is unknown.
void setMacs(OrderedJson& object, std::uint64_t macs, const std::string& reason);
/// Sets a number. Without a finite number it sets null and appends the cause to "reason": `missing` if there
/// is no value, `infinite` if it is infinite.
void setNumber(OrderedJson& object, const std::string& key, const std::optional<double>& value,
               const std::string& missing, const std::string& infinite = "infinite");

/// Prints the JSON document of a command.
void printJson(const OrderedJson& document);

OrderedJson toJson(const StateCounts& counts);
OrderedJson toJson(const StageSeconds& seconds);
OrderedJson toJson(const LayerResult& layer);
OrderedJson toJson(const TensorDifference& difference);

enum class Role { Floating, Prepared, Quantized };
/// Contains the keys of this role. Without an accuracy they are null, with a reason.
OrderedJson toJson(const std::optional<Accuracy>& accuracy, Role role);

/// Everything about a configuration except "model", as analyze prints it.
OrderedJson toJson(const Evaluation& evaluation);

/// A list of extents: a symbolic one as its name, an unknown one as null. Null without a shape.
OrderedJson toJson(const std::optional<Shape>& shape);
OrderedJson toJson(const AttributeValue& value);
/// Name, type and shape of each tensor.
OrderedJson toJson(const Graph& graph, std::span<const TensorId> tensors);

}  // namespace quantloupe::cli
