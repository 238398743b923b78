// SPDX-License-Identifier: Apache-2.0
#include "model/infer_shapes.h"

#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <set>

#include "base/is_one_of.h"

namespace quantloupe {
namespace {

/// Adds the kernel's shape to a convolution that leaves it to its weight. ONNX's inference reads beyond the
/// strides if such a weight has more dimensions than the input; a given shape is checked. Returns false if
/// the shape is unknown.
bool giveKernelShape(onnx::NodeProto& node, const onnx::GraphProto& graph) {
    const std::string& op = node.op_type();
    const int weight = op == "QLinearConv"                                     ? 3
                       : isOneOf(op, {"Conv", "ConvTranspose", "ConvInteger"}) ? 1
                                                                               : -1;
    if (weight < 0) return true;
    for (const auto& attribute : node.attribute())
        if (attribute.name() == "kernel_shape") return true;
    if (weight >= node.input_size()) return false;
    const auto give = [&](const auto& extents) {
        onnx::AttributeProto& shape = *node.add_attribute();
        shape.set_name("kernel_shape");
        shape.set_type(onnx::AttributeProto::INTS);
        for (std::size_t d = 2; d < extents.size(); ++d) shape.add_ints(extents[d]);
        return true;
    };
    for (const auto& tensor : graph.initializer())
        if (tensor.name() == node.input(weight))
            return give(Dims(tensor.dims().begin(), tensor.dims().end()));
    for (const auto& input : graph.input()) {
        if (input.name() != node.input(weight)) continue;
        Dims extents;
        for (const auto& dim : input.type().tensor_type().shape().dim()) {
            if (!dim.has_dim_value()) return true;  // then the inference does not use the weight
            extents.push_back(dim.dim_value());
        }
        return give(extents);
    }
    return false;
}

}  // namespace

std::optional<Shape> shapeOf(const onnx::TypeProto& type) {
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
    Shape shape;
    for (const auto& dim : type.tensor_type().shape().dim()) {
        Dim item;
        if (dim.has_dim_value() && dim.dim_value() >= 0)
            item.value = dim.dim_value();
        else if (dim.has_dim_param())
            item.symbol = dim.dim_param();
        shape.push_back(std::move(item));
    }
    return shape;
}

void noteType(GraphBuilder& builder, const onnx::ValueInfoProto& value) {
    if (!value.type().has_tensor_type() || !builder.hasTensor(value.name())) return;
    TensorInfo& info = builder.tensorInfo(builder.tensor(value.name()));
    if (info.type == DataType::Undefined)
        info.type = static_cast<DataType>(value.type().tensor_type().elem_type());
    if (!info.shape) info.shape = shapeOf(value.type());
}

void inferShapes(const onnx::ModelProto& model, GraphBuilder& builder) {
    // shape arithmetic needs values, convolutions only the shapes of weights
    constexpr std::size_t kSmall = 1024;
    onnx::ModelProto copy;
    copy.set_ir_version(model.ir_version());
    *copy.mutable_opset_import() = model.opset_import();
    onnx::GraphProto& graph = *copy.mutable_graph();
    graph.set_name(model.graph().name());
    *graph.mutable_input() = model.graph().input();
    *graph.mutable_output() = model.graph().output();
    *graph.mutable_value_info() = model.graph().value_info();
    std::set<std::string> inputs;
    for (const auto& input : graph.input()) inputs.insert(input.name());
    // ONNX's inference of control flow crashes on damaged bodies, and domains other than ai.onnx have no
    // inference.
    for (const auto& node : model.graph().node()) {
        const bool controls = std::any_of(node.attribute().begin(), node.attribute().end(),
                                          [](const onnx::AttributeProto& attribute) {
                                              return attribute.has_g() || attribute.graphs_size() > 0;
                                          });
        if (controls || !(node.domain().empty() || node.domain() == "ai.onnx")) continue;
        onnx::NodeProto inferred = node;
        if (giveKernelShape(inferred, model.graph())) *graph.add_node() = std::move(inferred);
    }
    for (const auto& tensor : model.graph().initializer()) {
        if (tensor.ByteSizeLong() <= kSmall) {
            *graph.add_initializer() = tensor;
            continue;
        }
        if (inputs.contains(tensor.name())) continue;
        onnx::ValueInfoProto& value = *graph.add_input();
        value.set_name(tensor.name());
        auto& type = *value.mutable_type()->mutable_tensor_type();
        type.set_elem_type(tensor.data_type());
        for (const auto dim : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(dim);
    }
    const auto infer = [&] {
        try {
            onnx::shape_inference::InferShapes(copy);
            return true;
        } catch (const std::exception&) {
            return false;
        }
    };
    if (!infer()) {  // some tools write wrong shapes, which end the inference
        graph.clear_value_info();
        for (onnx::ValueInfoProto& output : *graph.mutable_output()) output.clear_type();
        if (!infer()) return;
    }
    for (const auto& value : graph.value_info()) noteType(builder, value);
}

}  // namespace quantloupe
