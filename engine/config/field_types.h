// SPDX-License-Identifier: Apache-2.0
#pragma once
// The types of the configuration's fields. A type reads and checks a JSON value, writes it, and describes it
// in the JSON Schema.

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "config/object_reader.h"
#include "config/precision.h"

namespace quantloupe {

template <typename T>
struct FieldType {
    using Value = T;
    /// Reads the value of a key that is present. Throws Error naming the key if the value is not allowed.
    std::function<void(ObjectReader&, std::string_view key, T&)> read;
    std::function<OrderedJson(const T&)> write;
    OrderedJson schema;
};

FieldType<bool> booleanField();
/// An integer from `least` to `most`; `note` is appended to the error message for a value out of range.
FieldType<int> integerField(int least, int most, const std::string& note = {});
/// A power of two from `least` to 8192.
FieldType<int> binCountField(int least);
struct NumberBounds {
    double least = 0;
    double most = std::numeric_limits<double>::infinity();
    bool leastIncluded = true;
};
FieldType<double> numberField(NumberBounds bounds);
/// 8, 16, 32 or "float" (kFloatBias).
FieldType<int> biasBitsField();
/// "float32", "float16" or "wXaY".
FieldType<Precision> precisionField();
/// [start, end] with 0 < start < end <= 1000.
FieldType<std::array<double, 2>> intervalField();
/// A list of layer names.
FieldType<std::vector<std::string>> namesField();
/// A list of non-empty lists of layer names.
FieldType<std::vector<std::vector<std::string>>> nameSetsField();

template <typename T>
FieldType<T> choiceField(const Choices<T>& choices) {
    return {[&choices](ObjectReader& reader, std::string_view key, T& target) {
                reader.choice(key, target, choices);
            },
            [&choices](const T& value) { return OrderedJson(choiceName(choices, value)); },
            {{"enum", choiceNames(choices)}}};
}

/// Makes a type optional: null in JSON or a missing key is an empty value.
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
