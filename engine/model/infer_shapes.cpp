// SPDX-License-Identifier: Apache-2.0
#include "model/infer_shapes.h"

#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/is_one_of.h"

namespace quantloupe {
namespace {

/// The shapes of the weights that convolutions may have, by name: those of initializers, inputs, Constant
/// nodes, and of these behind QuantizeLinear and DequantizeLinear. Extents that are unknown are -1.
std::map<std::string, Dims> weightShapes(const onnx::GraphProto& graph) {
    std::map<std::string, Dims> shapes;
    for (const auto& input : graph.input()) {
        if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) continue;
        Dims& extents = shapes[input.name()];
        for (const auto& dim : input.type().tensor_type().shape().dim())
            extents.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    }
    const auto note = [&](const std::string& name, const onnx::TensorProto& tensor) {
        shapes.try_emplace(name, tensor.dims().begin(), tensor.dims().end());
    };
    for (const auto& tensor : graph.initializer()) note(tensor.name(), tensor);
    for (const auto& node : graph.node()) {
        if (node.output_size() != 1) continue;
        if (node.op_type() == "Constant" && node.attribute_size() == 1 && node.attribute(0).has_t())
            note(node.output(0), node.attribute(0).t());
        if (isOneOf(node.op_type(), {"QuantizeLinear", "DequantizeLinear"}) && node.input_size() > 0)
            if (const auto weight = shapes.find(node.input(0)); weight != shapes.end())
                shapes.try_emplace(node.output(0), weight->second);
    }
    return shapes;
}

/// Whether ONNX's inference may see this node. It reads beyond the weight of a ConvTranspose with too few
/// dimensions, and beyond the strides of a convolution whose weight has more dimensions than its input; with
/// a kernel shape, which is added here if the convolution leaves it to its weight, it checks the latter.
bool prepareConvolution(onnx::NodeProto& node, const std::map<std::string, Dims>& weights) {
    const std::string& op = node.op_type();
    const int weight = op == "QLinearConv"                                     ? 3
                       : isOneOf(op, {"Conv", "ConvTranspose", "ConvInteger"}) ? 1
                                                                               : -1;
    if (weight < 0) return true;
    if (weight >= node.input_size()) return false;
    const auto shape = weights.find(node.input(weight));
    const bool known = shape != weights.end();
    if (op == "ConvTranspose" && (!known || shape->second.size() < 2)) return false;
    for (const auto& attribute : node.attribute())
        if (attribute.name() == "kernel_shape") return true;
    if (!known) return false;
    const Dims& extents = shape->second;
    // the inference does not use the weight if one of its extents is unknown
    if (std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 0; }))
        return true;
    onnx::AttributeProto& kernel = *node.add_attribute();
    kernel.set_name("kernel_shape");
    kernel.set_type(onnx::AttributeProto::INTS);
    for (std::size_t d = 2; d < extents.size(); ++d) kernel.add_ints(extents[d]);
    return true;
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
    const std::map<std::string, Dims> weights = weightShapes(model.graph());
    for (const auto& node : model.graph().node()) {
        const bool controls = std::any_of(node.attribute().begin(), node.attribute().end(),
                                          [](const onnx::AttributeProto& attribute) {
                                              return attribute.has_g() || attribute.graphs_size() > 0;
                                          });
        if (controls || !(node.domain().empty() || node.domain() == "ai.onnx")) continue;
        onnx::NodeProto inferred = node;
        if (prepareConvolution(inferred, weights)) *graph.add_node() = std::move(inferred);
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
