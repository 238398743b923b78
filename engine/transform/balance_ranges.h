// SPDX-License-Identifier: Apache-2.0
#pragma once
// Computes factors that equalize the ranges over all junctions of a network.

#include <vector>

#include "transform/scale_groups.h"

namespace quantloupe {

struct BalanceOptions {
    /// Passes over all groups; -1: until no factor changes by more than 1e-6 (relative).
    int steps = 1;
    bool appendBias = false;  ///< a head's ranges include half its bias
    double clamp = 1e4;       ///< factors stay within 1/clamp and clamp
    /// Channels whose range is below this fraction of the largest range of heads or tails are dead.
    double dead = 1e-9;
};

struct BalanceResult {
    /// One list per group: heads are divided and tails multiplied by them.
    std::vector<std::vector<double>> factors;
    std::vector<std::size_t> deadChannels;  ///< one per group
    int passes = 0;
    bool converged = true;  ///< false: stopped after the maximum number of passes
};

/// Groups whose `enabled` is false keep factors of 1. Modifies nothing.
BalanceResult balanceRanges(const Graph& graph, const std::vector<ScaleGroup>& groups,
                            const std::vector<bool>& enabled, const BalanceOptions& options);

/// Changes the factors of the channels with `dead` (both one list per group) so that on neither side their
/// range exceeds the largest range of the other channels. The factors change as little as possible.
void settleDeadChannels(const Graph& graph, const std::vector<ScaleGroup>& groups,
                        const std::vector<std::vector<bool>>& dead,
                        std::vector<std::vector<double>>& factors);

}  // namespace quantloupe
