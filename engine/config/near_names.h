// SPDX-License-Identifier: Apache-2.0
#pragma once
// Suggestions for mistyped names: "did you mean ...?"

#include <string>
#include <string_view>
#include <vector>

namespace quantloupe {

/// Returns the candidates that are similar to the mistyped name, best first: equal except for case, then a
/// few edits away, then containing the name or contained in it. Empty if there are none.
std::vector<std::string> nearNames(const std::vector<std::string>& candidates, std::string_view name,
                                   std::size_t most);

/// Returns " (did you mean 'a' or 'b'?)"; empty without names.
std::string didYouMean(const std::vector<std::string>& names);

}  // namespace quantloupe
