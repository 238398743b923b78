// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requirements that all forms of equalization have on a layer.

#include <optional>
#include <string>
#include <vector>

#include "model/graph.h"
#include "transform/weight_layout.h"

namespace quantloupe {

bool isFloatConstant(const Graph& graph, TensorId id);
/// Whether the constant has one value per channel, along its last dimension. The bias of a Gemm may also be
/// [N, 1] or one value.
bool isPerChannel(const Constant& constant, std::size_t channels);
/// Whether the tensor is the node's data input and not one of its parameters.
bool readsAsData(const Node& node, TensorId tensor);
/// The layout of a layer with a constant weight, including a MatMul [in, out]; empty for other nodes.
std::optional<WeightLayout> layoutOf(const Graph& graph, NodeId id);
/// The weight or bias of the layer that another node reads as well; invalid if neither is shared.
TensorId sharedConstant(const Graph& graph, NodeId id);

/// Formats names as "'a', 'b'".
std::string namesOf(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace quantloupe
