// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cross-layer scaling: equalizes the ranges of adjacent layers' channels without changing the network's
// function.

#include <vector>

#include "transform/equalization_sets.h"
#include "transform/weight_editor.h"

namespace quantloupe {

/// Scales one set once, starting from the current weights. Returns s for each junction: the first layer's
/// output channels (and bias) were divided by it, the second's input channels multiplied by it.
std::vector<std::vector<float>> scaleSet(WeightEditor& weights, const LayerSet& set);

}  // namespace quantloupe
