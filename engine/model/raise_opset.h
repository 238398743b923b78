// SPDX-License-Identifier: Apache-2.0
#pragma once
// A newer version of ai.onnx for a graph, with the same meaning.

#include "model/graph_builder.h"

namespace quantloupe {

/// Rewrites what changed between the graph's opset, 11 at least, and `opset`, 21 at most: attributes that became inputs (axes of
/// reductions, Squeeze and Unsqueeze; the sizes of Split). `graph` is what the builder started from. Throws Error, Unsupported, naming
/// the node, where an operator means something else in the newer opset, and for an older graph.
void raiseOpset(GraphBuilder& builder, const Graph& graph, std::int64_t opset);

}  // namespace quantloupe
