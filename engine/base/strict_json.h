// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one way in which JSON that comes from outside is read: strict, and with bounded depth, length and time.

#include <nlohmann/json.hpp>
#include <string_view>

namespace quantloupe {

/// Throws Error for bad syntax, a duplicate key (which JSON libraries pass over in silence), more than 32 levels of
/// nesting, and more than 64 MiB of text.
nlohmann::json parseStrictJson(std::string_view text);
/// Keeps the order of the keys.
nlohmann::ordered_json parseOrderedJson(std::string_view text);

}  // namespace quantloupe
