// SPDX-License-Identifier: Apache-2.0
#pragma once
// Batch norms become part of the layers beside them.

#include <string>
#include <vector>

#include "model/graph.h"
#include "transform/high_bias_fold.h"

namespace quantloupe {

struct FoldResult {
    GraphPtr graph;
    std::size_t count = 0;  ///< nodes folded
    // One a node of the source:
    std::vector<NodeId> prepared;              ///< the node in `graph`; invalid for a folded batch norm
    std::vector<NodeId> foldedInto;            ///< for a folded batch norm: the source node that took it over
    std::vector<std::string> notes;            ///< for a batch norm that is still there: why
    std::vector<OutputStatistics> statistics;  ///< for a layer with a batch norm folded in from behind it
};

/// Folds every BatchNormalization that it exactly can: into the Conv, ConvTranspose (one group or depthwise)
/// or Gemm before it, else into the unpadded Conv (one group) or Gemm behind it; and every Mul, Add, Sub or
/// Div by a constant for each channel into the layer before it. The layer takes over the name of the folded
/// node's output. Layers and batch norms in `skip` (names) are left alone. Shares all other constants.
FoldResult foldBatchNorms(const GraphPtr& source, const std::vector<std::string>& skip);

}  // namespace quantloupe
