// SPDX-License-Identifier: Apache-2.0
#pragma once
// The types that fields of the configuration can have: how a value is read from JSON and checked, how it is
// written, and what a JSON Schema says about it.

#include <array>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/object_reader.h"

namespace quantloupe {

using OrderedJson = nlohmann::ordered_json;

template <typename T>
struct FieldType {
    using Value = T;
    /// Reads the value of a key that is present. Throws Error, naming the key, for a value that is not
    /// allowed.
    std::function<void(ObjectReader&, std::string_view key, T&)> read;
    std::function<OrderedJson(const T&)> write;
    OrderedJson schema;
};

FieldType<bool> booleanField();
/// `note` is added to the message about a value out of range.
FieldType<int> integerField(int least, int most, std::string note = {});
/// A power of two from `least` to 8192.
FieldType<int> binCountField(int least);
struct NumberBounds {
    double least = 0;
    double most = std::numeric_limits<double>::infinity();
    bool leastIncluded = true;
};
FieldType<double> numberField(NumberBounds bounds);
/// 8, 16, 32 or "float", which is kFloatBias.
FieldType<int> biasBitsField();
/// [start, end] with 0 < start < end <= 1000.
FieldType<std::array<double, 2>> intervalField();
/// A list of layer names.
FieldType<std::vector<std::string>> namesField();
/// A list of lists of layer names, none of which is empty.
FieldType<std::vector<std::vector<std::string>>> nameSetsField();

template <typename T>
FieldType<T> choiceField(const Choices<T>& choices) {
    OrderedJson names = OrderedJson::array();
    for (const auto& [name, value] : choices.available) names.push_back(name);
    return {[&choices](ObjectReader& reader, std::string_view key, T& target) {
                reader.choice(key, target, choices);
            },
            [&choices](const T& value) { return OrderedJson(choiceName(choices, value)); },
            {{"enum", names}}};
}

/// null in JSON, or a missing key, is an empty value.
template <typename T>
FieldType<std::optional<T>> optionalField(FieldType<T> type) {
    OrderedJson schema = {{"anyOf", {type.schema, {{"type", "null"}}}}};
    return {
        [read = type.read](ObjectReader& reader, std::string_view key, std::optional<T>& target) {
            target.reset();
            if (reader.find(key)->is_null()) return;
            T value{};
            read(reader, key, value);
            target = std::move(value);
        },
        [write = type.write](const std::optional<T>& value) { return value ? write(*value) : OrderedJson(); },
        std::move(schema)};
}

}  // namespace quantloupe
