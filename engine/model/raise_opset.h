// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts a graph to a newer version of ai.onnx without changing what it computes.

#include "model/graph_builder.h"

namespace quantloupe {

/// Rewrites what changed between the graph's opset (at least 7) and `opset` (at most 21, and raised to 11 if
/// the graph's is below 10): attributes that became inputs, Upsample, the axis of Softmax, and the modes of
/// Resize, GridSample and RoiAlign. The builder must have started from `graph`. Throws Error(Unsupported)
/// naming the node if an operator, or one in the body of an If, Loop or Scan, has another meaning in the
/// newer opset, and for an older graph.
void raiseOpset(GraphBuilder& builder, const Graph& graph, std::int64_t opset);

}  // namespace quantloupe
