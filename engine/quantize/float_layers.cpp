// SPDX-License-Identifier: Apache-2.0
#include "quantize/float_layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "base/is_one_of.h"
#include "model/operator_traits.h"
#include "model/reachability.h"

namespace quantloupe {
namespace {

/// The sum of two such numbers may be infinite. Many masks contain the lowest float32 number.
constexpr float kHuge = std::numeric_limits<float>::max() / 2;

/// The largest magnitude among the values that the node itself contains.
float ownMagnitude(const Node& node) {
    if (node.op == "Pad") return std::fabs(node.attributes.real("value", 0));  // up to opset 10
    const ConstantPtr value = node.op == "ConstantOfShape" ? node.attributes.constant("value") : nullptr;
    return value ? value->largestMagnitude() : 0;
}

/// Huge and infinite values that come from constants, as the largest magnitude of each tensor that has them.
std::map<TensorId, float> hugeTensors(const Graph& graph) {
    std::map<TensorId, float> magnitudes;
    for (const Node& node : graph.nodes()) {
        const bool adds = isOneOf(node.op, {"Add", "Sub"});
        if (!adds && !traitsOf(node).copiesValues &&
            !isOneOf(node.op, {"Mul", "Where", "Neg", "Pad", "Trilu", "Expand", "Tile", "Cast", "Dropout",
                               "ConstantOfShape", "ScatterND", "ScatterElements"}))
            continue;
        float largest = ownMagnitude(node), sum = 0;
        for (const TensorId input : node.inputs) {
            if (!input.valid()) continue;
            const Constant* constant = graph.constantOf(input);
            const auto found = magnitudes.find(input);
            const float magnitude = constant != nullptr         ? constant->largestMagnitude()
                                    : found != magnitudes.end() ? found->second
                                                                : 0;
            largest = std::max(largest, magnitude);
            if (magnitude >= kHuge) sum += magnitude;
        }
        if (adds) largest = std::max(largest, sum);
        if (largest < kHuge) continue;
        for (const TensorId output : node.outputs)
            if (output.valid()) magnitudes.emplace(output, largest);
    }
    return magnitudes;
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
    for (const auto& [tensor, magnitude] : hugeTensors(graph))
        if (std::isinf(magnitude)) m_infinite.insert(tensor);
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
        const bool ofShape = node.domain.empty() && isOneOf(node.op, {"Shape", "Size"});
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
                "its {} is computed from constants when the network runs; turn on Simplify "
                "(--simplify) to make it a constant",
                what);
    }
    return fmt::format("its {} is not a constant float32 tensor", what);
}

}  // namespace quantloupe
