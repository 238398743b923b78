// SPDX-License-Identifier: Apache-2.0
#include "model/infer_shapes.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <set>

#include "base/isolated_call.h"

namespace quantloupe {
namespace {

/// Returns a graph with only the values whose shapes and types ONNX's inference finds; nothing if it fails.
/// The inference runs in a process of its own, because it crashes on damaged nodes, for example on a
/// ConvTranspose with a scalar weight.
std::optional<onnx::GraphProto> inferredValues(const onnx::ModelProto& model) {
    constexpr std::chrono::seconds kLimit{60};  // large networks need a second
    onnx::OpSchemaRegistry::Schema("Conv");     // registers all operators here, and not in every fork
    const auto infer = [&] {
        onnx::ModelProto result = model;
        onnx::shape_inference::InferShapes(result);
        onnx::GraphProto values;
        values.mutable_value_info()->Swap(result.mutable_graph()->mutable_value_info());
        return values.SerializeAsString();
    };
    const std::optional<std::string> bytes = callIsolated(infer, kLimit);
    onnx::GraphProto values;
    return bytes && values.ParseFromString(*bytes) ? std::optional(std::move(values)) : std::nullopt;
}

}  // namespace

std::optional<Shape> shapeOf(const onnx::TypeProto& type) {
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
    Shape shape;
    for (const auto& dim : type.tensor_type().shape().dim()) {
        Dim item;
        if (dim.has_dim_value() && dim.dim_value() >= 0)
            item.value = dim.dim_value();
        else if (dim.has_dim_param() && !dim.dim_param().starts_with("unk__"))  // a name that ONNX made up
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
    // Control flow is left out, because an error in one body would end the inference. Domains other than
    // ai.onnx have no inference.
    for (const auto& node : model.graph().node()) {
        const bool controls = std::any_of(node.attribute().begin(), node.attribute().end(),
                                          [](const onnx::AttributeProto& attribute) {
                                              return attribute.has_g() || attribute.graphs_size() > 0;
                                          });
        if (controls || !(node.domain().empty() || node.domain() == "ai.onnx")) continue;
        *graph.add_node() = node;
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
    std::optional<onnx::GraphProto> inferred = inferredValues(copy);
    if (!inferred) {  // some tools write wrong shapes, which end the inference
        graph.clear_value_info();
        for (onnx::ValueInfoProto& output : *graph.mutable_output()) output.clear_type();
        inferred = inferredValues(copy);
    }
    if (!inferred) return;
    for (const auto& value : inferred->value_info()) noteType(builder, value);
}

}  // namespace quantloupe
