// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spearman's rank correlation: how well one list orders another (C. Spearman, 1904).

#include <optional>
#include <span>
#include <vector>

namespace quantloupe {

/// Returns ranks from 1; equal values share the mean of their ranks.
std::vector<double> ranksOf(std::span<const double> values);

/// Returns Pearson's correlation of the ranks, -1 to 1 (the definition that is also correct with ties). Empty
/// if undefined: fewer than two values, all values of one list equal, or a NaN. Throws Error if the sizes
/// differ. O(n log n).
std::optional<double> spearman(std::span<const double> first, std::span<const double> second);

}  // namespace quantloupe
