// SPDX-License-Identifier: Apache-2.0
#include "model/operator_traits.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/is_one_of.h"

namespace quantloupe {
namespace {

using enum OutputScale;
using Kind = OperatorKind;

// clang-format off
constexpr OperatorTraits kTraits[] = {
    //                                           scale of the output in the operator set              every  same   passes copies
    // operator              kind                layers      ONNX Runtime Quark       AIMET           input  shape  factor values
    {"Conv",                 Kind::Convolution,  None,       None,       None,       None,            false, false, false, false},
    {"ConvTranspose",        Kind::Convolution,  None,       None,       None,       None,            false, false, false, false},
    {"Gemm",                 Kind::Product,      None,       None,       None,       None,            false, false, false, false},
    {"MatMul",               Kind::Product,      None,       Own,        Own,        None,            true,  false, false, false},
    {"LSTM",                 Kind::Recurrent,    None,       None,       None,       None,            false, false, false, false},
    {"GRU",                  Kind::Recurrent,    None,       None,       None,       None,            false, false, false, false},
    {"RNN",                  Kind::Recurrent,    None,       None,       None,       None,            false, false, false, false},
    {"Relu",                 Kind::Clipping,     None,       None,       None,       None,            false, true,  true,  false},
    {"Clip",                 Kind::Clipping,     None,       None,       None,       None,            false, true,  false, false},
    {"LeakyRelu",            Kind::Slope,        None,       Own,        Own,        Own,             false, true,  true,  false},
    {"PRelu",                Kind::Slope,        None,       None,       Own,        Own,             false, true,  false, false},
    {"Add",                  Kind::Elementwise,  Own,        Own,        Own,        Own,             true,  false, false, false},
    {"Mul",                  Kind::Elementwise,  Own,        Own,        Own,        Own,             true,  false, false, false},
    {"Sub",                  Kind::Elementwise,  None,       None,       Own,        None,            true,  false, false, false},
    {"Div",                  Kind::Elementwise,  None,       None,       Own,        None,            true,  false, false, false},
    {"Min",                  Kind::Other,        None,       None,       Own,        None,            true,  false, false, false},
    {"Max",                  Kind::Other,        None,       None,       Own,        None,            true,  false, false, false},
    {"Concat",               Kind::Other,        Own,        Own,        Own,        Own,             true,  false, false, true},
    {"GlobalAveragePool",    Kind::Other,        Own,        Own,        Own,        Own,             false, false, true,  false},
    {"GlobalMaxPool",        Kind::Other,        None,       None,       None,       None,            false, false, true,  false},
    {"ReduceMean",           Kind::Other,        None,       None,       Own,        None,            false, false, false, false},
    {"Softmax",              Kind::Other,        None,       Own,        Own,        Own,             false, false, false, false},
    {"Sigmoid",              Kind::Other,        None,       Own,        Own,        Own,             false, true,  false, false},
    {"HardSigmoid",          Kind::Other,        None,       None,       Own,        None,            false, true,  false, false},
    {"Tanh",                 Kind::Other,        None,       None,       Own,        None,            false, true,  false, false},
    {"Erf",                  Kind::Other,        None,       None,       Own,        None,            false, true,  false, false},
    {"Gelu",                 Kind::Other,        None,       None,       Own,        None,            false, true,  false, false},
    {"HardSwish",            Kind::Other,        None,       None,       None,       None,            false, true,  false, false},
    {"Elu",                  Kind::Other,        None,       None,       None,       None,            false, true,  false, false},
    {"Selu",                 Kind::Other,        None,       None,       None,       None,            false, true,  false, false},
    {"Softplus",             Kind::Other,        None,       None,       None,       None,            false, true,  false, false},
    {"LpNormalization",      Kind::Other,        None,       None,       Own,        None,            false, false, false, false},
    {"LayerNormalization",   Kind::Other,        None,       Normalized, Normalized, None,            false, false, false, false},
    {"BatchNormalization",   Kind::Other,        None,       Normalized, None,       None,            false, true,  false, false},
    {"MaxPool",              Kind::Other,        FromInput,  FromInput,  FromInput,  FromInput,       false, false, true,  true},
    {"AveragePool",          Kind::Other,        FromInput,  FromInput,  Own,        FromInput,       false, false, true,  false},
    {"Flatten",              Kind::Other,        FromInput,  FromInput,  Own,        FromInput,       false, false, false, true},
    {"Reshape",              Kind::Other,        FromInput,  FromInput,  FromInput,  FromInput,       false, false, false, true},
    {"Transpose",            Kind::Other,        FromInput,  FromInput,  FromInput,  FromInput,       false, false, false, true},
    {"Squeeze",              Kind::Other,        FromInput,  FromInput,  FromInput,  FromInput,       false, false, false, true},
    {"Unsqueeze",            Kind::Other,        FromInput,  FromInput,  FromInput,  FromInput,       false, false, false, true},
    {"Slice",                Kind::Other,        None,       FromInput,  Own,        None,            false, false, false, true},
    {"Split",                Kind::Other,        None,       FromInput,  FromInput,  None,            false, false, false, true},
    {"Gather",               Kind::Other,        None,       FromInput,  FromInput,  None,            false, false, false, true},
    {"Resize",               Kind::Other,        None,       FromInput,  FromInput,  None,            false, false, false, false},
    {"Pad",                  Kind::Other,        None,       FromInput,  Own,        None,            false, false, false, false},
    {"DepthToSpace",         Kind::Other,        None,       None,       Own,        None,            false, false, false, true},
    {"SpaceToDepth",         Kind::Other,        None,       None,       Own,        None,            false, false, false, true},
    {"Identity",             Kind::Other,        None,       None,       None,       None,            false, true,  true,  true},
    {"Dropout",              Kind::Other,        None,       None,       None,       None,            false, true,  true,  false},
    {"Cast",                 Kind::Other,        None,       None,       None,       None,            false, true,  false, false},
};
// clang-format on

constexpr bool eachOnce() {
    for (const OperatorTraits& row : kTraits)
        if (std::ranges::count(kTraits, row.op, &OperatorTraits::op) != 1) return false;
    return true;
}
static_assert(eachOnce(), "an operator has two rows");

}  // namespace

const OperatorTraits& traitsOf(const Node& node) {
    static const auto rows = [] {
        std::unordered_map<std::string_view, const OperatorTraits*> byName;
        for (const OperatorTraits& row : kTraits) byName.emplace(row.op, &row);
        return byName;
    }();
    static constexpr OperatorTraits kUnknown;
    const auto found = node.domain.empty() ? rows.find(node.op) : rows.end();
    return found == rows.end() ? kUnknown : *found->second;
}

bool isOp(const Node& node, std::string_view op) { return node.op == op && node.domain.empty(); }

bool isConvolution(const Node& node) { return traitsOf(node).kind == OperatorKind::Convolution; }

bool isStridedTranspose(const Node& node) {
    return isOp(node, "ConvTranspose") && !allOnes(node.attributes.integers("strides"));
}

bool multipliesWeight(const Node& node) {
    const OperatorKind kind = traitsOf(node).kind;
    return kind == OperatorKind::Convolution || kind == OperatorKind::Product;
}

bool canHaveWeights(const Node& node) {
    const OperatorTraits& traits = traitsOf(node);
    return multipliesWeight(node) || traits.kind == OperatorKind::Recurrent ||
           std::ranges::any_of(std::array{traits.layers, traits.onnxRuntime, traits.quark, traits.aimet},
                               [](OutputScale scale) { return scale == OutputScale::Normalized; });
}

bool isDepthwise(const Graph& graph, const Node& node) {
    const Constant* weight = node.inputs.size() > 1 ? graph.constantOf(node.input(1)) : nullptr;
    return isOp(node, "Conv") && node.attributes.integer("group", 1) > 1 && weight != nullptr &&
           weight->dims().size() > 1 && weight->dims()[1] == 1;
}

bool onlyRearranges(std::string_view op) {
    return isOneOf(op, {"Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze"});
}

bool readsOnlyShape(std::string_view op) { return isOneOf(op, {"Shape", "Size"}); }

bool readsOnlyShape(const Node& node) { return node.domain.empty() && readsOnlyShape(node.op); }

bool isClipping(const Node& node) { return traitsOf(node).kind == OperatorKind::Clipping; }

bool canFuseActivation(const Node& node) {
    return multipliesWeight(node) || isOp(node, "Add") || isOp(node, "Mul") ||
           isOp(node, "BatchNormalization");
}

}  // namespace quantloupe
