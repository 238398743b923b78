// SPDX-License-Identifier: Apache-2.0
#pragma once
// The factors that even out the ranges over all junctions of a network.

#include <vector>

#include "transform/scale_groups.h"

namespace quantloupe {

struct BalanceOptions {
    int steps = 1;            ///< passes over all groups; -1: until no factor changes by more than 1e-6 of itself
    bool appendBias = false;  ///< half a head's bias counts in its ranges
    double clamp = 1e4;       ///< factors stay within 1/clamp and clamp
    double dead = 1e-9;       ///< channels below this part of the largest range of heads or tails are dead
};

struct BalanceResult {
    std::vector<std::vector<double>> factors;  ///< one list a group: what heads are divided by and tails multiplied
    std::vector<std::size_t> deadChannels;     ///< one a group
    int passes = 0;
    bool atRest = true;  ///< false: stopped after the most passes
};

/// Groups whose `enabled` is false keep factors of 1. Changes nothing.
BalanceResult balanceRanges(const Graph& graph, const std::vector<ScaleGroup>& groups,
                            const std::vector<bool>& enabled, const BalanceOptions& options);

/// Changes the factors of the channels with `dead` (both one list a group) so that none of them has a larger range than
/// the largest of the others, on either side; as little as that takes.
void settleDeadChannels(const Graph& graph, const std::vector<ScaleGroup>& groups,
                        const std::vector<std::vector<bool>>& dead, std::vector<std::vector<double>>& factors);

}  // namespace quantloupe
