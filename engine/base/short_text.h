// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names come from files and can have any length; what is shown of them is bounded.

#include <string>
#include <string_view>

namespace quantloupe {

/// At most this many characters of a name are shown.
inline constexpr std::size_t kMostOfName = 200;

/// The name, or its beginning and its end with an ellipsis between, `most` characters in all. Characters of UTF-8 stay whole.
std::string shortName(std::string_view name, std::size_t most = kMostOfName);

/// A message in which every quoted name and every word is shortened like that, with at most 4,000 characters in all, and
/// without control characters other than line breaks and tabs.
std::string shortMessage(std::string_view message);

}  // namespace quantloupe
