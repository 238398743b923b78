// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a JSON object strictly: wrong types, values out of range and unknown keys are errors that name the
// key.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/strict_json.h"

namespace quantloupe {

using Json = nlohmann::json;

/// The value in a message: "'text'", "0.5", "a list". Never long.
std::string describeValue(const Json& value);

/// The parts of the schema that a value of ours stands for.
template <typename Value>
struct Choices {
    std::vector<std::pair<std::string_view, Value>> available;
};

template <typename Value>
std::string_view choiceName(const Choices<Value>& choices, Value value) {
    for (const auto& [name, choice] : choices.available)
        if (choice == value) return name;
    fail(ErrorKind::Internal, "an option has a value without a name");
}

class ObjectReader {
  public:
    /// `path` is the object's dotted name, empty for the document. Throws Error if the value is no object.
    /// `allKeys` are the dotted names of the whole document, for suggestions.
    ObjectReader(const Json& value, std::string path, const std::vector<std::string>& allKeys);

    /// The value, or null where the key is missing; the key counts as known.
    const Json* find(std::string_view key);
    std::string pathOf(std::string_view key) const;

    // Each leaves the target alone where the key is missing.
    void boolean(std::string_view key, bool& target);
    /// A whole number; `note` is added to the message of one out of range.
    void integer(std::string_view key, int& target, int least, int most, std::string_view note = {});
    void number(std::string_view key, double& target, double least, double most, std::string_view note = {});
    void text(std::string_view key, std::string& target);
    void texts(std::string_view key, std::vector<std::string>& target);
    template <typename Value>
    void choice(std::string_view key, Value& target, const Choices<Value>& choices);

    /// A reader of the object under the key, or of an empty one.
    ObjectReader object(std::string_view key);

    /// Throws Error for a key that was never asked for.
    void finish() const;

    const std::string& path() const { return m_path; }
    const std::vector<std::string>& allKeys() const { return *m_allKeys; }

  private:
    [[noreturn]] void refuse(std::string_view key, const Json& value, std::string_view wanted) const;
    [[noreturn]] void refuseChoice(std::string_view key, const std::string& value,
                                   const std::vector<std::string_view>& available) const;

    const Json* m_value;
    std::string m_path;
    const std::vector<std::string>* m_allKeys;
    std::vector<std::string> m_known;
};

template <typename Value>
void ObjectReader::choice(std::string_view key, Value& target, const Choices<Value>& choices) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) refuse(key, *value, "a text");
    const std::string name = value->get<std::string>();
    std::vector<std::string_view> names;
    for (const auto& [candidate, meaning] : choices.available) {
        if (candidate == name) {
            target = meaning;
            return;
        }
        names.push_back(candidate);
    }
    refuseChoice(key, name, names);
}

}  // namespace quantloupe
