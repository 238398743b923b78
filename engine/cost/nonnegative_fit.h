// SPDX-License-Identifier: Apache-2.0
#pragma once
// Least squares with two nonnegative coefficients.

#include <array>
#include <span>

namespace quantloupe {

struct FitRow {
    std::array<double, 2> features{};
    double value = 0;
};

/// Returns the nonnegative coefficients with the smallest sum of squared errors; zeros without rows. With two
/// coefficients, the solution has an active set of at most two, so all of them are tried (Lawson and Hanson,
/// Solving Least Squares Problems, 1974, chapter 23). If the features of all rows are proportional, each of
/// them explains half of the values.
std::array<double, 2> nonnegativeFit(std::span<const FitRow> rows);

}  // namespace quantloupe
