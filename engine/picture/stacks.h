// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers and the batch norms and activations that follow them, which are drawn as compact rows of the layer.

#include <vector>

#include "picture/picture.h"

namespace quantloupe {

/// Returns for each node of the graph the layer that it is a row of; invalid for all others. A row is a
/// BatchNormalization after a Conv, ConvTranspose, Gemm or MatMul, or a Relu or Clip after one of these, an
/// Add or a Mul, or after the batch norm: what can be folded or fused. It is the only reader of the previous
/// node's output, and its other inputs are constants. Nodes of collapsed groups are in no stack.
std::vector<NodeId> findStacks(const Graph& graph, const std::vector<std::size_t>& groupOf);

/// Places all rows below their boxes, which have their final places, and closes the edges inside stacks.
void placeRows(Picture& picture, double rowHeight);

}  // namespace quantloupe
