// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits the length of displayed names, which come from files and can have any length.

#include <string>
#include <string_view>

namespace quantloupe {

/// The number of characters of a name that are shown.
inline constexpr std::size_t kMaxNameLength = 200;

/// The name, or its beginning and end joined by an ellipsis, at most `most` characters in total. Never splits
/// a UTF-8 character.
std::string shortName(std::string_view name, std::size_t most = kMaxNameLength);

/// The message with every quoted name and every word shortened in the same way, at most 4,000 characters in
/// total, without control characters other than line breaks and tabs.
std::string shortMessage(std::string_view message);

}  // namespace quantloupe
