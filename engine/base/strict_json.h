// SPDX-License-Identifier: Apache-2.0
#pragma once
// The only way in which JSON from outside is parsed: strictly, and with bounded depth, length and time.

#include <string_view>

#include "base/json.h"

namespace quantloupe {

/// Throws Error for bad syntax, a duplicate key (which JSON libraries ignore silently), more than 32 levels
/// of nesting, and more than 64 MiB of text.
Json parseStrictJson(std::string_view text);
/// Like parseStrictJson(), but keeps the order of the keys.
OrderedJson parseOrderedJson(std::string_view text);

}  // namespace quantloupe
