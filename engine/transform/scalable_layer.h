// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all forms of equalization ask of a layer before they touch its weights.

#include <optional>
#include <string>
#include <vector>

#include "model/graph.h"
#include "transform/weight_layout.h"

namespace quantloupe {

bool isFloatConstant(const Graph& graph, TensorId id);
/// The tensor is the node's data, and none of its parameters.
bool readsAsData(const Node& node, TensorId tensor);
/// The layout of a layer with a constant weight, also of a MatMul [in, out]; nothing for other nodes.
std::optional<WeightLayout> layoutOf(const Graph& graph, NodeId id);
/// Weight or bias of the layer, if something else reads it, too; invalid if neither is shared.
TensorId sharedConstant(const Graph& graph, NodeId id);

/// "'a', 'b'".
std::string namesOf(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace quantloupe
