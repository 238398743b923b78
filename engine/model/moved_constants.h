// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constants that pass through operators that only rearrange them, as some exporters write weights: a
// Transpose that was not folded, or an Identity for each parameter that is equal to another one.

#include <vector>

#include "model/graph_builder.h"

namespace quantloupe {

/// Whether the node is an Identity, Transpose, Cast, Reshape, Squeeze, Unsqueeze or Flatten: the output has
/// the elements of the first input.
bool isMove(const Node& node);

/// Whether the node is a Slice, Split or Concat of float32 tensors. Exporters assemble the weights of
/// recurrent layers with them. resolveConstant() does not follow them, rootConstants() does.
bool assemblesWeights(const Graph& graph, const Node& node);

/// Returns the constant that a tensor is, or that it is computed from by such operators with constant
/// operands; null if there is none.
const Constant* resolveConstant(const Graph& graph, TensorId tensor);

/// Returns the constants that a tensor is computed from, each once, if it is computed by operators of both
/// kinds with constant operands only; empty if it is not, or by very many operators.
std::vector<const Constant*> rootConstants(const Graph& graph, TensorId tensor);

/// Replaces every Identity of a constant by the constant itself, under the name of the node's output; the
/// values are shared, not copied. An Identity whose output is a graph output is kept. Returns the number of
/// removed nodes.
std::size_t foldConstantIdentities(GraphBuilder& builder);

}  // namespace quantloupe
