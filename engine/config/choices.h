// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace quantloupe {

/// The names of an enumeration's values in JSON.
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

/// Returns the value with this name; empty if there is none.
template <typename Value>
std::optional<Value> choiceNamed(const Choices<Value>& choices, std::string_view name) {
    for (const auto& [known, choice] : choices.available)
        if (known == name) return choice;
    return std::nullopt;
}

template <typename Value>
std::vector<std::string_view> choiceNames(const Choices<Value>& choices) {
    std::vector<std::string_view> names;
    for (const auto& [name, choice] : choices.available) names.push_back(name);
    return names;
}

}  // namespace quantloupe
