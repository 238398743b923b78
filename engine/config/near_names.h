// SPDX-License-Identifier: Apache-2.0
#pragma once
// "Did you mean ...?"

#include <string>
#include <string_view>
#include <vector>

namespace quantloupe {

/// Number of single characters to insert, remove or replace to get from one text to the other, without regard
/// to case.
std::size_t editDistance(std::string_view a, std::string_view b);

/// Those of the candidates that resemble the mistyped name: equal but for case, then few edits away, then one
/// holding the other. Best first; empty where nothing is near.
std::vector<std::string> nearNames(const std::vector<std::string>& candidates, std::string_view name,
                                   std::size_t most);

/// " (did you mean 'a' or 'b'?)", or nothing without names.
std::string didYouMean(const std::vector<std::string>& names);

}  // namespace quantloupe
