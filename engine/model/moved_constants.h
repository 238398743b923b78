// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constants that pass through operators which only move them, as exporters leave weights behind: a Transpose
// that was not folded, or an Identity for each parameter that is equal to another one.

#include "model/graph_builder.h"

namespace quantloupe {

/// Identity, Transpose, Cast, Reshape, Squeeze, Unsqueeze or Flatten: the output has the elements of the
/// first input.
bool isMove(const Node& node);

/// The constant that a tensor is, or is made of by moves with constant operands; null if there is none.
const Constant* constantBehind(const Graph& graph, TensorId tensor);

/// Replaces every Identity of a constant by the constant itself, under the name of the node's output; the
/// values are shared, not copied. An Identity that computes a graph output stays. Returns the number of nodes
/// that were removed.
std::size_t foldConstantIdentities(GraphBuilder& builder);

}  // namespace quantloupe
