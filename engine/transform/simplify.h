// SPDX-License-Identifier: Apache-2.0
#pragma once
// The same function with fewer nodes.

#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct SimplifyResult {
    GraphPtr graph;  ///< the source itself if there was nothing to do
    std::size_t count = 0;  ///< nodes removed
    // One a node of the source:
    std::vector<NodeId> simplified;  ///< the node in `graph`; invalid for a removed one
    std::vector<std::string> notes;  ///< for a removed one: why
};

/// Computes what depends on constants alone, removes operators that pass their input on (Identity, Dropout in inference, a Cast to
/// the type that is there, a Concat of one tensor, a Pad of nothing) and what no graph output needs. Names of graph inputs and
/// outputs stay. Any thread.
SimplifyResult simplify(const GraphPtr& source);

/// Computes only constants that are moved on their way to a layer: through Identity, Transpose, Cast, Reshape, Squeeze, Unsqueeze and
/// Flatten. It is done to every model, so that a weight that PyTorch's exporter transposes at run time is a constant. Any thread.
SimplifyResult foldMovedConstants(const GraphPtr& source);

}  // namespace quantloupe
