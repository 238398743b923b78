// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models that are already quantized: with Q/DQ pairs or with integer operators.

#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// Whether the node is QuantizeLinear or a related operator, or an integer operator (QLinearConv,
/// ConvInteger...), of ai.onnx or com.microsoft.
bool isQuantizationOperator(const Node& node);
/// The number of such operators; 0 for a float model.
std::size_t quantizationOperators(const Graph& graph);
/// One flag per node: it is such an operator, or a float operator (with its Relu or Clip) that reads
/// dequantized values.
std::vector<bool> quantizedNodes(const Graph& graph);

}  // namespace quantloupe
