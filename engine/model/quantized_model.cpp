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

const IntegerLayer* integerLayer(const Node& node) {
    static constexpr std::array<IntegerLayer, 5> kLayers = {{{"QLinearConv", true, 3, 8},
                                                             {"ConvInteger", true, 1, {}},
                                                             {"QLinearMatMul", false, 3, {}},
                                                             {"MatMulInteger", false, 1, {}},
                                                             {"QGemm", false, 3, 6}}};
    if (!isQuantizationOperator(node)) return nullptr;
    const auto* const found = std::ranges::find(kLayers, node.op, &IntegerLayer::op);
    return found == kLayers.end() ? nullptr : found;
}

std::vector<bool> quantizedNodes(const Graph& graph) {
    std::vector<bool> quantized(graph.nodeCount(), false);
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        bool some = false, every = true;
        for (const TensorId in : node.inputs) {
            if (!in.valid()) continue;
            const NodeId maker = graph.tensor(in).producer;
            if (!maker.valid()) {
                every = every && graph.constantOf(in) != nullptr && !multipliesWeight(node);
                continue;
            }
            const bool coded =
                graph.node(maker).op == "DequantizeLinear" || (isClipping(node) && quantized[maker.index()]);
            some = some || coded;
            every = every && coded;
        }
        quantized[i] = isQuantizationOperator(node) || (some && every);
    }
    return quantized;
}

}  // namespace quantloupe
