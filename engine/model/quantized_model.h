// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models that come quantized already: with Q/DQ pairs, or with operators on integers.

#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// QuantizeLinear and its kin, and the operators on integers (QLinearConv, ConvInteger...), of ai.onnx and com.microsoft.
bool isQuantizationOperator(const Node& node);
/// How many of them there are; 0: a float model.
std::size_t quantizationOperators(const Graph& graph);
/// One a node: it is such an operator, or a float operator (with its Relu or Clip) that reads what was dequantized for it.
std::vector<bool> quantizedNodes(const Graph& graph);

}  // namespace quantloupe
