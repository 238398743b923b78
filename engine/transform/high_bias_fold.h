// SPDX-License-Identifier: Apache-2.0
#pragma once
// High-bias fold: moves what a channel always carries out of its bias into the next layer's.

#include <span>
#include <string>
#include <vector>

#include "transform/equalization_sets.h"
#include "transform/weight_editor.h"

namespace quantloupe {

/// How a layer's outputs are spread over the training data, as the batch norm folded into it tells: channel c
/// has the mean beta[c] and the standard deviation |gamma[c]|. Empty: none was folded.
struct OutputStatistics {
    std::vector<float> gamma, beta;
    bool known() const { return !gamma.empty(); }
};

/// Absorbs over each junction of the set. `statistics` are the first layer's of each junction, before
/// scaling; `factors` what scaleSet() divided them by. Returns what each channel of each junction's first
/// layer gave away (an empty list for a junction that was left out); appends to `notices` where that is worth saying.
std::vector<std::vector<float>> foldHighBias(WeightEditor& weights, const LayerSet& set,
                         std::span<const std::vector<float>> factors,
                         std::span<const OutputStatistics> statistics, std::vector<std::string>& notices);

}  // namespace quantloupe
