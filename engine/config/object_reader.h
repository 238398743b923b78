// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a JSON object strictly: wrong types, values out of range and unknown keys are errors that name the
// key.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/strict_json.h"
#include "config/choices.h"

namespace quantloupe {

/// Returns a short description of a value for messages: "'text'", "0.5", "a list".
std::string describeValue(const Json& value);

class ObjectReader {
  public:
    /// Takes the dotted path of the object (empty for the whole document) and all dotted keys of the
    /// document, for suggestions. Throws Error if the value is not an object.
    ObjectReader(const Json& value, std::string path, const std::vector<std::string>& allKeys);

    /// Returns the value, or null if the key is missing. finish() accepts the key from now on.
    const Json* find(std::string_view key);
    std::string pathOf(std::string_view key) const;

    // If the key is missing, these functions leave the target unchanged.
    void boolean(std::string_view key, bool& target);
    /// Reads an integer; `note` is appended to the error message for a value out of range.
    void integer(std::string_view key, int& target, int least, int most, std::string_view note = {});
    void number(std::string_view key, double& target, double least, double most, std::string_view note = {});
    void text(std::string_view key, std::string& target);
    void texts(std::string_view key, std::vector<std::string>& target);
    template <typename Value>
    void choice(std::string_view key, Value& target, const Choices<Value>& choices);

    /// Returns a reader for the object under the key, or for an empty object if the key is missing.
    ObjectReader object(std::string_view key);

    /// Returns the keys of the object that were not read.
    std::vector<std::string> unread() const;
    /// Throws Error if there are any.
    void finish() const;

    const std::string& path() const { return m_path; }
    const std::vector<std::string>& allKeys() const { return *m_allKeys; }

  private:
    [[noreturn]] void refuse(std::string_view key, const Json& value, std::string_view expected) const;
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
    if (!value->is_string()) refuse(key, *value, "a string");
    const std::string name = value->get<std::string>();
    const std::optional<Value> chosen = choiceNamed(choices, name);
    if (!chosen) refuseChoice(key, name, choiceNames(choices));
    target = *chosen;
}

}  // namespace quantloupe
