// SPDX-License-Identifier: Apache-2.0
#include "quantize/float_layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/is_one_of.h"
#include "model/operator_traits.h"
#include "model/reachability.h"

namespace quantloupe {
namespace {

/// The sum of two such numbers may be infinite. Many masks contain the lowest float32 number.
constexpr float kHuge = std::numeric_limits<float>::max() / 2;

/// The magnitudes of the largest positive and of the lowest negative number, each 0 unless it is huge.
struct HugeValues {
    float above = 0, below = 0;

    float largest() const { return std::max(above, below); }
    void add(float value) {
        if (value >= kHuge) above = std::max(above, value);
        if (value <= -kHuge) below = std::max(below, -value);
    }
};

HugeValues hugeIn(const Constant& constant) {
    HugeValues found;
    if (constant.largestMagnitude() >= kHuge)
        for (const float value : constant.floats()) found.add(value);
    return found;
}

/// Returns those that the node itself contains.
HugeValues ownValues(const Node& node) {
    HugeValues own;
    if (node.op == "Pad") own.add(node.attributes.real("value", 0));  // up to opset 10
    const ConstantPtr value = node.op == "ConstantOfShape" ? node.attributes.constant("value") : nullptr;
    return value ? hugeIn(*value) : own;
}

/// Returns those of an operand as they reach the result.
HugeValues asOperand(const Node& node, std::size_t input, HugeValues values) {
    if (node.op == "Neg" || (node.op == "Sub" && input == 1)) std::swap(values.above, values.below);
    if (node.op == "Mul") values.above = values.below = values.largest();
    // A window also contains other values than those of a padding with -infinity.
    if (isOneOf(node.op, {"MaxPool", "GlobalMaxPool"})) values.below = 0;
    return values;
}

/// Huge and infinite values that come from constants, of each tensor that has them.
std::map<TensorId, HugeValues> hugeTensors(const Graph& graph) {
    std::map<TensorId, HugeValues> tensors;
    for (const Node& node : graph.nodes()) {
        const bool adds = isOneOf(node.op, {"Add", "Sub"});
        if (!adds && !traitsOf(node).copiesValues &&
            !isOneOf(node.op, {"Mul", "Where", "Neg", "Pad", "Trilu", "Expand", "Tile", "Cast", "Dropout",
                               "ConstantOfShape", "ScatterND", "ScatterElements"}))
            continue;
        HugeValues result = ownValues(node);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const TensorId input = node.inputs[i];
            if (!input.valid()) continue;
            const Constant* constant = graph.constantOf(input);
            const auto found = tensors.find(input);
            const HugeValues values = asOperand(node, i,
                                                constant != nullptr      ? hugeIn(*constant)
                                                : found != tensors.end() ? found->second
                                                                         : HugeValues{});
            result.above = adds ? result.above + values.above : std::max(result.above, values.above);
            result.below = adds ? result.below + values.below : std::max(result.below, values.below);
        }
        if (result.largest() == 0) continue;
        for (const TensorId output : node.outputs)
            if (output.valid()) tensors.emplace(output, result);
    }
    return tensors;
}

bool onlySoftmaxReads(const Graph& graph, TensorId tensor) {
    const TensorInfo& info = graph.tensor(tensor);
    return !info.consumers.empty() && !info.graphOutput &&
           std::ranges::all_of(info.consumers,
                               [&](NodeId reader) { return graph.node(reader).op == "Softmax"; });
}

}  // namespace

FloatLayers::FloatLayers(const Graph& graph, OperatorSet operators) {
    for (const TensorId output : graph.outputs())
        if (std::ranges::find(graph.inputs(), output) != graph.inputs().end()) m_passed.insert(output);
    for (const auto& [tensor, values] : hugeTensors(graph))
        if (std::isinf(values.largest())) m_infinite.insert(tensor);
    for (const Node& node : graph.nodes())
        for (const TensorId input : node.inputs)
            if (const Constant* constant = graph.constantOf(input);
                constant != nullptr && node.op != "Clip" && std::isinf(constant->largestMagnitude()))
                m_infinite.insert(input);
    if (operators == OperatorSet::Layers)
        for (const Node& node : graph.nodes())
            if (isOneOf(node.op, {"Add", "Sub"}) && onlySoftmaxReads(graph, node.output()))
                m_scores.insert(node.output());
    for (const Node& node : graph.nodes()) {
        const auto fixed = [&](TensorId input) {
            return !input.valid() || graph.constantOf(input) != nullptr || m_fixed.contains(input);
        };
        const bool ofShape = readsOnlyShape(node);
        if (ofShape || (!node.inputs.empty() && std::ranges::all_of(node.inputs, fixed)))
            m_fixed.insert(node.outputs.begin(), node.outputs.end());
    }
}

std::string FloatLayers::reasonFor(const Node& node) const {
    const auto touches = [&](const std::set<TensorId>& tensors) {
        const auto contains = [&](TensorId tensor) { return tensors.contains(tensor); };
        return std::ranges::any_of(node.inputs, contains) || std::ranges::any_of(node.outputs, contains);
    };
    if (node.output().valid() && m_fixed.contains(node.output()))
        return "its result does not depend on the data, only on constants and shapes";
    if (touches(m_infinite)) return "it reads or computes infinite values, such as those of a mask";
    if (m_scores.contains(node.output())) return "only a Softmax reads it, which computes in float";
    if (touches(m_passed)) return "it reads a tensor that is both an input and an output of the network";
    return {};
}

std::string notConstant(const Graph& graph, TensorId tensor, std::string_view what) {
    const NodeId producer = tensor.valid() ? graph.tensor(tensor).producer : NodeId();
    if (producer.valid()) {
        const NodeSet upstream = upstreamOf(graph, std::array{producer});
        const bool varies = std::ranges::any_of(graph.inputs(), [&](TensorId input) {
            return std::ranges::any_of(graph.tensor(input).consumers,
                                       [&](NodeId reader) { return upstream[reader.index()]; });
        });
        if (!varies)
            return fmt::format(
                "its {} is computed from constants when the network runs; {} to make it a constant", what,
                kSimplifyAdvice);
    }
    return fmt::format("its {} is not a constant float32 tensor", what);
}

}  // namespace quantloupe
