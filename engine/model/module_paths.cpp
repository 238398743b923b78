// SPDX-License-Identifier: Apache-2.0
#include "model/module_paths.h"

#include <algorithm>
#include <vector>

namespace quantloupe {
namespace {

bool beginsWithDigit(std::string_view text) {
    return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

/// Reads a list of strings as Python prints it; empty if it is something else.
std::vector<std::string> pythonStrings(std::string_view text) {
    constexpr std::size_t kLongest = 16000, kMost = 64;
    if (text.size() > kLongest || !text.starts_with('[') || !text.ends_with(']')) return {};
    text = text.substr(1, text.size() - 2);
    std::vector<std::string> strings;
    while (!text.empty()) {
        const char quote = text.front();
        if ((quote != '\'' && quote != '"') || strings.size() == kMost) return {};
        std::string& string = strings.emplace_back();
        std::size_t i = 1;
        for (; i < text.size() && text[i] != quote; ++i) {
            if (text[i] == '\\') ++i;
            if (i < text.size()) string += text[i];
        }
        if (i >= text.size()) return {};
        text.remove_prefix(i + 1);
        if (text.empty()) break;
        if (!text.starts_with(", ")) return {};
        text.remove_prefix(2);
    }
    return strings;
}

std::string inQuotes(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') result += '\\';
        result += c;
    }
    return result + '\'';
}

}  // namespace

std::string pathFromScopes(std::string_view scopes, std::string_view op) {
    const std::vector<std::string> names = pythonStrings(scopes);
    // The first one is the whole network or, for operations outside of all modules, a placeholder.
    if (names.empty() || !names.front().empty()) return {};
    std::string path, part;
    std::string_view outer;
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {  // the last one is the name of the operation
        const std::string_view module = names[i];
        if (module.empty() || module == outer) continue;
        const bool nested = module.starts_with(outer) && module.size() > outer.size() + 1 &&
                            module[outer.size()] == '.' && !outer.empty();
        std::string own(nested ? module.substr(outer.size() + 1) : module);
        // A number says nothing without the list that it belongs to.
        part = nested && beginsWithDigit(own) ? part + '.' + own : own;
        std::ranges::replace(part, '/', '.');
        path += '/' + part;
        outer = module;
    }
    constexpr std::size_t kLongest = 1000;
    return path.empty() || path.size() > kLongest ? std::string() : path + '/' + std::string(op);
}

std::string scopesFromPath(std::string_view path, std::string_view name) {
    std::string scopes = "['', ", outer, before;
    for (std::size_t at = 1; at < path.size();) {
        const std::size_t end = path.find('/', at);
        if (end == std::string_view::npos) break;
        const std::string part(path.substr(at, end - at));
        const bool repeats = part.size() > before.size() + 1 && part.starts_with(before + '.') &&
                             beginsWithDigit(std::string_view(part).substr(before.size() + 1));
        const std::string own = repeats && !before.empty() ? part.substr(before.size() + 1) : part;
        outer += (outer.empty() ? "" : ".") + own;
        scopes += inQuotes(outer) + ", ";
        before = part;
        at = end + 1;
    }
    return scopes + inQuotes(name) + ']';
}

}  // namespace quantloupe
