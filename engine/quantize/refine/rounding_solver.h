// SPDX-License-Identifier: Apache-2.0
#pragma once
// Learned rounding: decides which weights of a layer to round up and which to round down.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/cancel.h"

namespace quantloupe {

/// The problem for output channels that read the same inputs (one group of a layer). The cost of the codes q
/// of a channel with scale s is s^2 (q A q' - 2 q t'), where A is the second moment of the layer's inputs and
/// t is the linear term that follows from the exact output, in codes.
struct RoundingProblem {
    std::size_t rows = 0, columns = 0;
    std::span<const float> moments;          ///< A, [columns, columns], symmetric
    std::span<const float> exact;            ///< weight / scale, [rows, columns]
    std::span<const float> target;           ///< t, [rows, columns]
    std::span<const float> lowest, highest;  ///< lowest and highest code, one per row
};

/// Returns the codes, each the exact value rounded down or up and clamped, [rows, columns]. Single-threaded;
/// the result does not depend on the machine. The cost is never higher than with rounding to nearest. Throws
/// Cancelled.
std::vector<std::int32_t> solveRounding(const RoundingProblem& problem, const CancelToken& cancel = {});

/// Returns the cost of the codes of one row divided by s^2, up to a constant.
double roundingCost(const RoundingProblem& problem, std::size_t row, std::span<const std::int32_t> codes);

}  // namespace quantloupe
