// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace quantloupe {

bool isOneOf(std::string_view value, const auto& list) {
    return std::any_of(std::begin(list), std::end(list),
                       [&](std::string_view item) { return item == value; });
}

inline bool isOneOf(std::string_view value, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace quantloupe
