// SPDX-License-Identifier: Apache-2.0
#include "model/half_networks.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "base/error.h"
#include "base/is_one_of.h"
#include "model/onnx_proto.h"
#include "model/operator_traits.h"

namespace quantloupe {
namespace {

bool isHalf(std::int64_t type) {
    return type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16;
}

bool isDouble(std::int64_t type) { return type == onnx::TensorProto::DOUBLE; }

bool isMove(const std::string& op) { return op == "Identity" || onlyRearranges(op); }

using TypeTest = bool (*)(std::int64_t type);

bool hasHalfType(const onnx::NodeProto& node, const char* name) {
    return std::any_of(node.attribute().begin(), node.attribute().end(), [&](const auto& attribute) {
        return attribute.name() == name &&
               isHalf(attribute.has_t() ? attribute.t().data_type() : attribute.i());
    });
}

/// `half` contains the tensors of half types that are known so far.
bool computes(const onnx::GraphProto& graph, std::set<std::string> half) {
    for (const auto& tensor : graph.initializer())
        if (isHalf(tensor.data_type())) half.insert(tensor.name());
    for (const auto& input : graph.input())
        if (isHalf(input.type().tensor_type().elem_type())) half.insert(input.name());
    for (const auto& node : graph.node()) {
        const std::string& op = node.op_type();
        const bool reads = std::any_of(node.input().begin(), node.input().end(),
                                       [&](const std::string& name) { return half.contains(name); });
        bool produces = false;
        if (op == "Constant")
            produces = hasHalfType(node, "value");
        else if (op == "Cast")
            produces = hasHalfType(node, "to");
        else if (op == "CastLike")
            produces = node.input_size() == 2 && half.contains(node.input(1));
        else if (isMove(op))
            produces = reads;
        else if (reads && !readsOnlyShape(op))
            return true;
        if (produces) half.insert(node.output().begin(), node.output().end());
        for (const auto& attribute : node.attribute())
            if (attribute.has_g() && computes(attribute.g(), half)) return true;
    }
    return false;
}

void convertTensor(onnx::TensorProto& tensor, const std::filesystem::path& folder, TypeTest converted) try {
    if (!converted(tensor.data_type())) return;
    const std::vector<double> values = constantFromProto(tensor, nullptr, folder)->toDoubles();
    std::vector<float> floats(values.size());
    // The lowest float64, as in masks, must not become infinite: 0 times infinity is NaN.
    static constexpr double kMost = std::numeric_limits<float>::max();
    std::ranges::transform(values, floats.begin(), [](double value) {
        return static_cast<float>(std::isfinite(value) ? std::clamp(value, -kMost, kMost) : value);
    });
    onnx::TensorProto made;
    made.set_name(tensor.name());
    *made.mutable_dims() = tensor.dims();
    made.set_data_type(onnx::TensorProto::FLOAT);
    made.set_raw_data(floats.data(), floats.size() * sizeof(float));
    tensor = std::move(made);
} catch (Error& error) {
    error.addContext(fmt::format("initializer '{}'", tensor.name()));
    throw;
}

void convertType(onnx::TypeProto& type, TypeTest converted) {
    if (type.has_tensor_type() && converted(type.tensor_type().elem_type()))
        type.mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    if (type.has_sequence_type()) convertType(*type.mutable_sequence_type()->mutable_elem_type(), converted);
    if (type.has_optional_type()) convertType(*type.mutable_optional_type()->mutable_elem_type(), converted);
}

void convert(onnx::GraphProto& graph, const std::filesystem::path& folder, TypeTest converted) {
    for (auto& tensor : *graph.mutable_initializer()) convertTensor(tensor, folder, converted);
    for (auto* values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
        for (auto& value : *values) convertType(*value.mutable_type(), converted);
    for (auto& node : *graph.mutable_node())
        for (auto& attribute : *node.mutable_attribute()) {
            if (attribute.has_t()) convertTensor(*attribute.mutable_t(), folder, converted);
            for (auto& tensor : *attribute.mutable_tensors()) convertTensor(tensor, folder, converted);
            // The element type that an operator produces. BitCast needs the original one: it is then refused.
            if (node.op_type() != "BitCast" && isOneOf(attribute.name(), {"to", "dtype", "output_dtype"}) &&
                converted(attribute.i()))
                attribute.set_i(onnx::TensorProto::FLOAT);
            if (attribute.has_g()) convert(*attribute.mutable_g(), folder, converted);
        }
}

}  // namespace

bool computesInHalf(const onnx::GraphProto& graph) { return computes(graph, {}); }

bool computesInDouble(const onnx::GraphProto& graph) {
    const auto isWeight = [](const auto& tensor) {
        return isDouble(tensor.data_type()) && tensor.dims_size() > 1;
    };
    const auto hasWeight = [&](const onnx::NodeProto& node) {
        const auto& attributes = node.attribute();
        return node.op_type() == "Constant" &&
               std::any_of(attributes.begin(), attributes.end(),
                           [&](const onnx::AttributeProto& a) { return isWeight(a.t()); });
    };
    if (std::none_of(graph.initializer().begin(), graph.initializer().end(), isWeight) &&
        std::none_of(graph.node().begin(), graph.node().end(), hasWeight))
        return false;
    std::set<std::string> doubles;
    for (const auto& input : graph.input())
        if (isDouble(input.type().tensor_type().elem_type())) doubles.insert(input.name());
    // Older files list the initializers as inputs, too.
    for (const auto& tensor : graph.initializer()) doubles.erase(tensor.name());
    for (const auto& node : graph.node()) {
        if (std::none_of(node.input().begin(), node.input().end(),
                         [&](const std::string& name) { return doubles.contains(name); }))
            continue;
        if (isMove(node.op_type()))
            doubles.insert(node.output().begin(), node.output().end());
        else if (!readsOnlyShape(node.op_type()) && !isOneOf(node.op_type(), {"Cast", "CastLike"}))
            return true;
    }
    return false;
}

void halfToFloat32(onnx::GraphProto& graph, const std::filesystem::path& folder) {
    convert(graph, folder, isHalf);
}

void doubleToFloat32(onnx::GraphProto& graph, const std::filesystem::path& folder) {
    convert(graph, folder, isDouble);
}

}  // namespace quantloupe
