// SPDX-License-Identifier: Apache-2.0
#include "base/short_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace quantloupe {
namespace {

constexpr std::size_t kMaxMessageLength = 4000;
constexpr std::string_view kEllipsis = "…";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
bool isBlank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

/// The end of a quoted name that begins at `begin`: the next quote that is not followed by a letter; npos if
/// there is none.
std::size_t closingQuote(std::string_view text, std::size_t begin) {
    for (std::size_t at = text.find('\'', begin + 1); at != std::string_view::npos;
         at = text.find('\'', at + 1))
        if (at + 1 == text.size() || isBlank(text[at + 1]) ||
            std::string_view(",.;:)]/").find(text[at + 1]) != std::string_view::npos)
            return at;
    return std::string_view::npos;
}

bool opensQuote(std::string_view text, std::size_t at) {
    return text[at] == '\'' &&
           (at == 0 || isBlank(text[at - 1]) || text[at - 1] == '(' || text[at - 1] == '[');
}

bool isControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string shortened(std::string_view name, std::size_t most = kMaxNameLength) {
    if (name.size() <= most) return std::string(name);  // a text has at least as many bytes as characters
    std::size_t characters = 0;
    for (const char c : name) characters += continues(c) ? 0 : 1;
    if (characters <= most) return std::string(name);
    const std::size_t atStart = most * 3 / 5, atEnd = most - 1 - atStart;
    std::size_t head = 0, tail = name.size();
    for (std::size_t count = 0; count < atStart; ++count) do
            ++head;
        while (head < name.size() && continues(name[head]));
    for (std::size_t count = 0; count < atEnd; ++count) do
            --tail;
        while (tail > head && continues(name[tail]));
    return std::string(name.substr(0, head)).append(kEllipsis).append(name.substr(tail));
}

}  // namespace

std::string shortName(std::string_view name, std::size_t most) {
    std::string shown = shortened(name, most);
    std::ranges::replace_if(shown, isControl, '?');
    return shown;
}

std::string shortMessage(std::string_view message) {
    std::string result;
    bool closing = true;  // false once an opening quote had no closing one
    for (std::size_t at = 0; at < message.size();) {
        std::size_t end = at + 1;
        std::size_t close = std::string_view::npos;
        if (closing && opensQuote(message, at)) {
            close = closingQuote(message, at);
            closing = close != std::string_view::npos;
        }
        if (close != std::string_view::npos) {
            result.append("'").append(shortName(message.substr(at + 1, close - at - 1))).append("'");
            at = close + 1;
            continue;
        }
        if (!isBlank(message[at]))
            while (end < message.size() && !isBlank(message[end]) && !opensQuote(message, end)) ++end;
        result += shortened(message.substr(at, end - at));
        at = end;
    }
    std::ranges::replace_if(
        result, [](char c) { return isControl(c) && !isBlank(c); }, '?');
    return shortened(result, kMaxMessageLength);
}

std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string shortList(const std::vector<std::string>& names, std::size_t most) {
    std::string list;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i) list += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > most) list += fmt::format(" and {} more", names.size() - most);
    return list;
}

}  // namespace quantloupe
