// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cross-layer scaling: evens out the ranges of neighbouring layers' channels without changing the function.

#include <vector>

#include "transform/equalization_sets.h"
#include "transform/weight_editor.h"

namespace quantloupe {

/// Scales one set once, on the weights as they are now. Returns s for each junction: the first layer's output
/// channels (and bias) were divided by it, the second's input channels multiplied.
std::vector<std::vector<float>> scaleSet(WeightEditor& weights, const LayerSet& set);

}  // namespace quantloupe
