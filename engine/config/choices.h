// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace quantloupe
