// SPDX-License-Identifier: Apache-2.0
#pragma once
// Channels that carry nothing, and taking back what equalization did to them.

#include <map>
#include <vector>

#include "transform/junction.h"
#include "transform/weight_editor.h"

namespace quantloupe {

/// Factors beyond these limits, either way, are no equalization any more.
inline constexpr float kExtremeFactor = 1e4f;
bool isExtreme(float factor);

/// A channel is dead where its range is below this part of the largest of its layer: float32 cannot tell it from
/// nothing in any sum with the others.
inline constexpr double kDeadRange = 1e-9;

/// One entry a channel of the junction between two layers; ranges are of the weights in `graph`.
std::vector<bool> deadChannels(const Graph& graph, NodeId head, NodeId tail);

/// What a layer's input and output channels were multiplied and divided by in total; empty: nothing.
struct LayerFactors {
    std::vector<float> before, behind;
    std::vector<bool> restoreBefore, restoreBehind;  ///< channels whose weights do not have their factor yet
};

/// Computes the weights of the restored channels, and their biases, anew from those in the editor's graph.
void restoreChannels(WeightEditor& weights, const std::map<NodeId, LayerFactors>& factors);

}  // namespace quantloupe
