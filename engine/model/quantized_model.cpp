// SPDX-License-Identifier: Apache-2.0
#include "model/quantized_model.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "model/moved_constants.h"
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

void requireFloatModel(const Graph& graph, std::string_view what) {
    if (quantizationOperators(graph) > 0)
        failInput("the model is already quantized, but {} needs a float model: open the original float model",
                  what);
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

namespace {

/// Looks through operators that only move values.
bool isDequantized(const Graph& graph, TensorId tensor) {
    NodeId maker = tensor.valid() ? graph.tensor(tensor).producer : NodeId();
    while (maker.valid() && isMove(graph.node(maker)) && graph.node(maker).input(0).valid())
        maker = graph.tensor(graph.node(maker).input(0)).producer;
    return maker.valid() && graph.node(maker).op == "DequantizeLinear";
}

bool isShapeOrIndex(const TensorInfo& tensor) {
    return tensor.type == DataType::Int64 || tensor.type == DataType::Int32 || tensor.type == DataType::Bool;
}

/// Returns whether ONNX Runtime can compute this float operator on codes.
bool readsOnlyCodes(const Graph& graph, const Node& node, const std::vector<bool>& quantized) {
    if (multipliesWeight(node))  // the bias can be float
        return isDequantized(graph, node.input(0)) && isDequantized(graph, node.input(1));
    if (!node.output().valid() || isShapeOrIndex(graph.tensor(node.output()))) return false;
    bool some = false;
    for (const TensorId in : node.inputs) {
        if (!in.valid() || isShapeOrIndex(graph.tensor(in))) continue;
        const NodeId maker = graph.tensor(in).producer;
        if (isDequantized(graph, in) || (isClipping(node) && maker.valid() && quantized[maker.index()]))
            some = true;
        else if (graph.constantOf(in) == nullptr || traitsOf(node).kind == OperatorKind::Elementwise)
            return false;
    }
    return some;
}

}  // namespace

std::vector<bool> quantizedNodes(const Graph& graph) {
    std::vector<bool> quantized(graph.nodeCount(), false);
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const Node& node = graph.node(NodeId(i));
        quantized[i] = isQuantizationOperator(node) || readsOnlyCodes(graph, node, quantized);
    }
    return quantized;
}

}  // namespace quantloupe
