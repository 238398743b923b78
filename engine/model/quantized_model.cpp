// SPDX-License-Identifier: Apache-2.0
#include "model/quantized_model.h"

#include <algorithm>
#include <array>

#include "model/operator_traits.h"

namespace quantloupe {

bool isQuantizationOperator(const Node& node) {
    static constexpr std::array kNames = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear",
                                          "ConvInteger",    "MatMulInteger",    "QGemm",
                                          "QAttention",     "QOrderedMatMul"};
    if (!node.domain.empty() && node.domain != "com.microsoft" && node.domain != "ai.onnx") return false;
    return node.op.starts_with("QLinear") || std::find(kNames.begin(), kNames.end(), node.op) != kNames.end();
}

std::size_t quantizationOperators(const Graph& graph) {
    return static_cast<std::size_t>(
        std::count_if(graph.nodes().begin(), graph.nodes().end(), isQuantizationOperator));
}

std::vector<bool> quantizedNodes(const Graph& graph) {
    std::vector<bool> quantized(graph.nodeCount(), false);
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        quantized[i] = isQuantizationOperator(node);
        for (const TensorId in : node.inputs) {
            if (!in.valid()) continue;
            const NodeId maker = graph.tensor(in).producer;
            if (!maker.valid()) continue;
            const bool dequantized = graph.node(maker).op == "DequantizeLinear";
            const bool inside = isClipping(node) && quantized[maker.index()];
            if (dequantized || inside) quantized[i] = true;
        }
    }
    return quantized;
}

}  // namespace quantloupe
