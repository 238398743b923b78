// SPDX-License-Identifier: Apache-2.0
#pragma once
// High-bias fold: moves the part of a bias that is practically always present into the next layer's bias.

#include <span>
#include <string>
#include <vector>

#include "transform/equalization_sets.h"
#include "transform/weight_editor.h"

namespace quantloupe {

/// Output distribution of a layer over the training data, from the batch norm folded into it: channel c has
/// mean beta[c] and standard deviation |gamma[c]|. Empty if none was folded.
struct OutputStatistics {
    std::vector<float> gamma, beta;
    bool known() const { return !gamma.empty(); }
};

/// Folds over each junction of the set. `statistics` are those of the first layer of each junction before
/// scaling, `factors` those that scaleSet() divided it by. Returns the amount moved from each channel of each
/// junction's first layer (an empty list for a junction that was left out); appends to `notices` if something
/// is worth reporting.
std::vector<std::vector<float>> foldHighBias(WeightEditor& weights, const LayerSet& set,
                                             std::span<const std::vector<float>> factors,
                                             std::span<const OutputStatistics> statistics,
                                             std::vector<std::string>& notices);

}  // namespace quantloupe
