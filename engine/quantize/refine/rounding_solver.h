// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which weights of a layer to round up and which down.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quantloupe {

/// Output channels that read the same inputs (one group of a layer). Codes q of a channel with scale s cost
/// s^2 (q A q' - 2 q t'): A is the second moment of the inputs that the layer gets, t what the exact output asks for, in codes.
struct RoundingProblem {
    std::size_t rows = 0, columns = 0;
    std::span<const float> moments;  ///< A, [columns, columns], symmetric
    std::span<const float> exact;    ///< weight over scale, [rows, columns]
    std::span<const float> target;   ///< t, [rows, columns]
    std::span<const float> lowest, highest;  ///< codes, one a row
};

/// The codes, each the exact value rounded down or up and clamped, [rows, columns]. One thread; the same wherever it runs.
/// Never costs more than rounding to the nearest code.
std::vector<std::int32_t> solveRounding(const RoundingProblem& problem);

/// What codes of one row cost, over s^2, but for a constant.
double roundingCost(const RoundingProblem& problem, std::size_t row, std::span<const std::int32_t> codes);

}  // namespace quantloupe
