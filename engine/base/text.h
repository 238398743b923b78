// SPDX-License-Identifier: Apache-2.0
#pragma once
// Helpers for text that do not depend on the locale.

#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace quantloupe {

/// The text without spaces, tabs and line breaks at both ends.
inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// The text with its ASCII letters in lower case.
inline std::string lowerCase(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

/// Appends the texts to the list.
inline void append(std::vector<std::string>& list, std::vector<std::string> more) {
    list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// "b" of "a.b"; the whole text if it contains no dot.
inline std::string_view afterLastDot(std::string_view text) {
    return text.substr(text.rfind('.') + 1);  // npos + 1 is 0
}

/// Parses the whole text as a number; empty if it is not a number or out of range.
template <typename T>
std::optional<T> parsed(std::string_view text) {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

}  // namespace quantloupe
