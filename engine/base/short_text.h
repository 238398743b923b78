// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts, lists and names in messages. Names come from files and can have any length, so they are shortened.

#include <string>
#include <string_view>
#include <vector>

namespace quantloupe {

/// The number of characters of a name that are shown.
inline constexpr std::size_t kMaxNameLength = 200;

/// The name, or its beginning and end joined by an ellipsis, at most `most` characters in total. Never splits
/// a UTF-8 character. Control characters become question marks.
std::string shortName(std::string_view name, std::size_t most = kMaxNameLength);

/// The message with every quoted name and every word shortened in the same way, at most 4,000 characters in
/// total, without control characters other than line breaks and tabs.
std::string shortMessage(std::string_view message);

/// "1 layer", "2 layers".
std::string counted(std::size_t count, std::string_view what);
/// "a, b, c, d and 3 more".
std::string shortList(const std::vector<std::string>& names, std::size_t most = 4);

}  // namespace quantloupe
