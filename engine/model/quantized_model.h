// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models that are already quantized: with Q/DQ pairs or with integer operators.

#include <optional>
#include <string_view>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

/// Whether the node is QuantizeLinear or a related operator, or an integer operator (QLinearConv,
/// ConvInteger...), of ai.onnx or com.microsoft.
bool isQuantizationOperator(const Node& node);
/// The number of such operators; 0 for a float model.
std::size_t quantizationOperators(const Graph& graph);
/// Throws Error if there are any. `what`: what needs a float model, as in "tuning".
void requireFloatModel(const Graph& graph, std::string_view what);
/// An operator that multiplies codes by a weight, with the positions of its inputs.
struct IntegerLayer {
    std::string_view op;
    bool convolution = false;
    std::size_t weight = 0;
    std::optional<std::size_t> bias;
};
/// Returns null for other operators.
const IntegerLayer* integerLayer(const Node& node);
/// One flag per node: it is such an operator, or a float operator (with its Relu or Clip) whose inputs and
/// weight are dequantized; biases, shapes and indices need not be.
std::vector<bool> quantizedNodes(const Graph& graph);

}  // namespace quantloupe
