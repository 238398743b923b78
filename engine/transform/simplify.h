// SPDX-License-Identifier: Apache-2.0
#pragma once
// Simplification: fewer nodes for the same function.

#include <functional>
#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct SimplifyResult {
    GraphPtr graph;         ///< the source itself if nothing changed
    std::size_t count = 0;  ///< nodes removed
    // One entry per node of the source:
    std::vector<NodeId> simplified;  ///< the node in `graph`; invalid for a removed one
    std::vector<std::string> notes;  ///< for a removed node: the reason
};

/// Returns whether the node's first output always equals its first input, so that simplify() removes the
/// node. `constantOf` returns the value of a constant tensor; null: it is not constant.
bool returnsItsInput(const Graph& graph, const Node& node,
                     const std::function<const Constant*(TensorId)>& constantOf);

/// Precomputes everything that depends only on constants, and removes operators without effect (Identity,
/// Dropout in inference mode, a Cast to the same type, a Concat of one tensor, a Pad of size 0) and operators
/// that no graph output needs. Keeps the names of graph inputs and outputs. Any thread.
SimplifyResult simplify(const GraphPtr& source);

/// Precomputes only constants that reach a layer through Identity, Transpose, Cast, Reshape, Squeeze,
/// Unsqueeze and Flatten, or through Slice, Split and Concat of weights. Applied to every model, so that a
/// weight that PyTorch's exporter transposes or assembles at run time is a constant. Any thread.
SimplifyResult foldMovedConstants(const GraphPtr& source);

/// Removes only Identity and Dropout nodes (in inference mode) between a layer and the batch norm or the Relu
/// or Clip after it, so that these can be fused with the layer. Any thread.
SimplifyResult joinActivations(const GraphPtr& source);

}  // namespace quantloupe
