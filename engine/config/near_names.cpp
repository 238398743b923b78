// SPDX-License-Identifier: Apache-2.0
#include "config/near_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"

namespace quantloupe {
namespace {

/// Only the ends of longer names are compared, because the cost grows with the square of the length.
constexpr std::size_t kLongestName = 200;

std::string comparable(std::string_view text) {
    if (text.size() > kLongestName) text.remove_prefix(text.size() - kLongestName);
    return lowerCase(text);
}

/// The Levenshtein distance: inserted, removed or replaced characters.
std::size_t editDistance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::vector<std::string> nearNames(const std::vector<std::string>& candidates, std::string_view name,
                                   std::size_t most) {
    const std::string mistyped = comparable(name);
    if (mistyped.empty()) return {};
    const auto rank = [&](const std::string& candidate) -> std::optional<std::size_t> {
        const std::string other = comparable(candidate);
        const std::size_t edits = editDistance(mistyped, other);
        if (edits <= std::max<std::size_t>(1, mistyped.size() / 3)) return edits;
        const std::size_t shorter = std::min(mistyped.size(), other.size());
        const bool contains =
            other.find(mistyped) != std::string::npos || mistyped.find(other) != std::string::npos;
        if (shorter >= 3 && contains) return kLongestName + edits;
        return std::nullopt;
    };
    std::vector<std::pair<std::size_t, std::size_t>>
        ranked;  // rank and index, so that equal ranks keep their order
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (const auto value = rank(candidates[i])) ranked.emplace_back(*value, i);
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string> result;
    for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i)
        result.push_back(candidates[ranked[i].second]);
    return result;
}

std::string didYouMean(const std::vector<std::string>& names) {
    if (names.empty()) return {};
    std::string list;
    for (std::size_t i = 0; i < names.size(); ++i)
        list += fmt::format("{}'{}'", i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
    return fmt::format(" (did you mean {}?)", list);
}

}  // namespace quantloupe
