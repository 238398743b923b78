// SPDX-License-Identifier: Apache-2.0
#pragma once
// Folds batch norms into adjacent layers.

#include <string>
#include <vector>

#include "model/graph.h"
#include "transform/high_bias_fold.h"

namespace quantloupe {

struct FoldResult {
    GraphPtr graph;
    std::size_t count = 0;  ///< nodes folded
    // One entry per node of the source:
    std::vector<NodeId> prepared;  ///< the node in `graph`; invalid for a folded batch norm
    /// For a folded batch norm: the source node that it was folded into.
    std::vector<NodeId> foldedInto;
    std::vector<std::string> notes;            ///< for a batch norm that was not folded: the reason
    std::vector<OutputStatistics> statistics;  ///< for a layer that the batch norm after it was folded into
};

/// Folds every BatchNormalization for which this is exact: into the Conv, ConvTranspose (one group or
/// depthwise), Gemm or MatMul before it, else into the unpadded Conv (one group), Gemm or MatMul after it;
/// and every Mul, Add, Sub or Div by a constant per channel into the layer before it. The layer's output
/// takes over the name of the folded node's output. Layers and batch norms in `skip` (names) are not changed.
/// All other constants are shared.
FoldResult foldBatchNorms(const GraphPtr& source, const std::vector<std::string>& skip);

}  // namespace quantloupe
