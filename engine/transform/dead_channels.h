// SPDX-License-Identifier: Apache-2.0
#pragma once
// Channels with negligible weights, and undoing what equalization did to them.

#include <map>
#include <vector>

#include "transform/junction.h"
#include "transform/weight_editor.h"

namespace quantloupe {

/// Factors outside 1/kExtremeFactor..kExtremeFactor no longer equalize.
inline constexpr float kExtremeFactor = 1e4f;
bool isExtreme(float factor);

/// A channel is dead if its range is below this fraction of the largest range in its layer: in any float32
/// sum with the other channels, its contribution is lost.
inline constexpr double kDeadRange = 1e-9;

/// One flag per channel of the junction between two layers. Ranges are those of the weights in `graph`.
std::vector<bool> deadChannels(const Graph& graph, NodeId head, NodeId tail);

/// The total factors of a layer's input channels (multiplied) and output channels (divided); empty: none.
struct LayerFactors {
    std::vector<float> before, after;
    /// Channels whose factor is not applied to the weights yet.
    std::vector<bool> restoreBefore, restoreAfter;
};

/// Recomputes the weights and biases of the restored channels from those in the editor's graph.
void restoreChannels(WeightEditor& weights, const std::map<NodeId, LayerFactors>& factors);

}  // namespace quantloupe
