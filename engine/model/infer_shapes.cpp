// SPDX-License-Identifier: Apache-2.0
#include "model/infer_shapes.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/isolated_call.h"
#include "model/assumed_sizes.h"
#include "model/onnx_proto.h"

namespace quantloupe {
namespace {

/// Opset 13 turned attributes of these operators into inputs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kListsOfOpset13{
    {{"Squeeze", "axes"}, {"Unsqueeze", "axes"}, {"ReduceSum", "axes"}, {"Split", "split"}}};

void turnListsIntoInputs(onnx::GraphProto& graph) {
    for (onnx::NodeProto& node : *graph.mutable_node()) {
        const auto list = std::ranges::find(kListsOfOpset13, node.op_type(),
                                            &std::pair<std::string_view, std::string_view>::first);
        if (list == kListsOfOpset13.end() || node.input_size() != 1) continue;
        auto& attributes = *node.mutable_attribute();
        const auto found = std::ranges::find(attributes, list->second, &onnx::AttributeProto::name);
        if (found == attributes.end()) continue;
        onnx::TensorProto& values = *graph.add_initializer();
        values.set_name("quantloupe list " + std::to_string(graph.initializer_size()));
        values.set_data_type(onnx::TensorProto::INT64);
        values.add_dims(found->ints_size());
        *values.mutable_int64_data() = found->ints();
        node.add_input(values.name());
        attributes.erase(found);
    }
}

/// Removes the Shape nodes that read tensors without a type: since opset 15, ONNX crashes when it computes
/// the values of shapes and reads such a tensor.
void removeShapesOfUnknownTensors(onnx::GraphProto& graph) {
    std::set<std::string> known{std::string()};
    for (const auto* values : {&graph.input(), &graph.value_info()})
        for (const onnx::ValueInfoProto& value : *values) known.insert(value.name());
    for (const onnx::TensorProto& tensor : graph.initializer()) known.insert(tensor.name());
    google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
    for (const onnx::NodeProto& node : graph.node()) {
        const bool complete = std::ranges::all_of(
            node.input(), [&](const std::string& input) { return known.contains(input); });
        if (complete) known.insert(node.output().begin(), node.output().end());
        if (complete || node.op_type() != "Shape") *kept.Add() = node;
    }
    graph.mutable_node()->Swap(&kept);
}

/// Returns a graph with only the values whose shapes and types ONNX's inference finds; nothing if it fails.
/// The inference runs in a process of its own, because it crashes on damaged nodes, for example on a
/// ConvTranspose with a scalar weight. `computing`: also computes the values of shapes.
std::optional<onnx::GraphProto> valuesOf(const onnx::ModelProto& model, bool computing) {
    constexpr std::chrono::seconds kLimit{60};  // large networks need a second
    onnx::OpSchemaRegistry::Schema("Conv");     // registers all operators here, and not in every fork
    const auto infer = [&] {
        onnx::ModelProto result = model;
        if (computing) removeShapesOfUnknownTensors(*result.mutable_graph());
        const onnx::ShapeInferenceOptions options{false, 0, computing};  // no checks of types, not strict
        onnx::shape_inference::InferShapes(result, onnx::OpSchemaRegistry::Instance(), options);
        onnx::GraphProto values;
        values.mutable_value_info()->Swap(result.mutable_graph()->mutable_value_info());
        *values.mutable_output() = result.graph().output();
        return values.SerializeAsString();
    };
    const std::optional<std::string> bytes = callIsolated(infer, kLimit);
    onnx::GraphProto values;
    return bytes && values.ParseFromString(*bytes) ? std::optional(std::move(values)) : std::nullopt;
}

/// Raises opsets 11 to 14 to 15: only since then, ONNX infers shapes through a Reshape to a computed shape.
/// Returns whether the model had such an opset.
bool raiseOpset(onnx::ModelProto& model) {
    constexpr std::int64_t kFirst = 11, kLists = 13, kComputed = 15, kInitializersAlone = 4;
    for (auto& import : *model.mutable_opset_import()) {
        if (!isStandardDomain(import.domain()) || import.version() < kFirst || import.version() >= kComputed)
            continue;
        if (import.version() < kLists) turnListsIntoInputs(*model.mutable_graph());
        for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node())
            if (node.op_type() == "BatchNormalization")  // others are for training, up to opset 13
                while (node.output_size() > 1) node.mutable_output()->RemoveLast();
        import.set_version(kComputed);
        model.set_ir_version(std::max(model.ir_version(), kInitializersAlone));
        return true;
    }
    return false;
}

/// valuesOf() the model with a raised opset, or of the model itself if that fails.
std::optional<onnx::GraphProto> inferredValues(const onnx::ModelProto& model, bool computing) {
    onnx::ModelProto raised = model;
    if (raiseOpset(raised))
        if (auto values = valuesOf(raised, computing)) return values;
    return valuesOf(model, computing);
}

/// A copy of the model for the inference, without large weights: shape arithmetic needs values, convolutions
/// only the shapes of weights. Control flow is left out, because an error in one body would end the
/// inference, and nodes of other domains than ai.onnx, which have no inference.
onnx::ModelProto skeletonOf(const onnx::ModelProto& model) {
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
    for (const auto& node : model.graph().node()) {
        const bool controls = std::any_of(node.attribute().begin(), node.attribute().end(),
                                          [](const onnx::AttributeProto& attribute) {
                                              return attribute.has_g() || attribute.graphs_size() > 0;
                                          });
        if (controls || !isStandardDomain(node.domain())) continue;
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
    return copy;
}

void forgetShapes(onnx::GraphProto& graph) {
    graph.clear_value_info();
    for (onnx::ValueInfoProto& output : *graph.mutable_output()) output.clear_type();
}

std::optional<Dims> knownDims(const onnx::TypeProto& type) {
    const std::optional<Shape> shape = shapeOf(type);
    if (!shape) return std::nullopt;
    Dims dims;
    for (const Dim& dim : *shape) {
        if (!dim.known()) return std::nullopt;
        dims.push_back(dim.value);
    }
    return dims;
}

/// A graph with only the inputs.
GraphPtr inputsAlone(const onnx::GraphProto& graph, GraphBuilder& builder) {
    GraphBuilder inputs;
    for (const auto& input : graph.input())
        if (builder.hasTensor(input.name()))
            if (const TensorInfo& info = builder.tensorInfo(builder.tensor(input.name())); info.graphInput)
                inputs.addInput(inputs.tensor(info.name), info.type, info.shape);
    return inputs.build();
}

/// Gives the inputs these sizes, in the order of `inputs`, and removes all other shapes.
void setSizes(onnx::GraphProto& graph, const Graph& inputs, const std::vector<Dims>& sizes) {
    for (auto& input : *graph.mutable_input()) {
        const auto tensor = inputs.findTensor(input.name());
        if (!tensor || !inputs.tensor(*tensor).shape) continue;
        const auto at = std::ranges::find(inputs.inputs(), *tensor) - inputs.inputs().begin();
        auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
        shape.clear_dim();
        for (const std::int64_t size : sizes[static_cast<std::size_t>(at)])
            shape.add_dim()->set_dim_value(size);
    }
    graph.clear_value_info();
    for (onnx::ValueInfoProto& output : *graph.mutable_output())
        if (output.type().has_tensor_type()) output.mutable_type()->mutable_tensor_type()->clear_shape();
}

/// The assumed sizes, but a large prime for each dynamic dimension (the same for the same name), so that an
/// extent that is divided, rounded or limited differs from that of one sample.
std::vector<Dims> manySamples(const Graph& inputs) {
    constexpr std::array<std::int64_t, 8> kPrimes{1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049};
    std::vector<Dims> sizes = assumedInputDims(inputs);
    std::map<std::string, std::int64_t> known;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        for (std::size_t d = 0; d < sizes[i].size(); ++d)
            if (const Dim& dim = (*inputs.tensor(inputs.inputs()[i]).shape)[d]; !dim.known())
                sizes[i][d] =
                    known.try_emplace(dim.symbol, kPrimes[known.size() % kPrimes.size()]).first->second;
    return sizes;
}

/// Adds the extents that do not depend on the number of samples: those that are the same for one
/// (assumedDims) and for many.
void noteFixedDims(onnx::ModelProto& model, const Graph& inputs, GraphBuilder& builder) {
    setSizes(*model.mutable_graph(), inputs, manySamples(inputs));
    const auto values = inferredValues(model, true);
    if (!values) return;
    for (const onnx::ValueInfoProto& value : values->value_info()) {
        if (!builder.hasTensor(value.name())) continue;
        TensorInfo& info = builder.tensorInfo(builder.tensor(value.name()));
        const std::optional<Dims> dims = knownDims(value.type());
        if (!dims || !info.assumedDims || dims->size() != info.assumedDims->size()) continue;
        for (std::size_t axis = 0; axis < dims->size(); ++axis)
            if (Dim& dim = (*info.shape)[axis]; !dim.known() && dim.symbol.empty() && (*dims)[axis] > 0 &&
                                                (*dims)[axis] == (*info.assumedDims)[axis])
                dim.value = (*dims)[axis];
        if (std::ranges::all_of(*info.shape, &Dim::known)) info.assumedDims.reset();
    }
}

/// Adds the shapes for assumed sizes, and the extents and ranks that follow from computed shapes.
void noteAssumedDims(onnx::ModelProto& model, GraphBuilder& builder) {
    // A Squeeze without axes also removes a batch of the assumed size 1.
    for (const auto& node : model.graph().node())
        if (node.op_type() == "Squeeze" && node.input_size() < 2 && node.attribute_size() == 0) return;
    const GraphPtr inputs = inputsAlone(model.graph(), builder);
    setSizes(*model.mutable_graph(), *inputs, assumedInputDims(*inputs));
    const auto values = inferredValues(model, true);
    if (!values) return;
    const auto note = [&](const onnx::ValueInfoProto& value) {
        if (!builder.hasTensor(value.name())) return;
        TensorInfo& info = builder.tensorInfo(builder.tensor(value.name()));
        if (info.shape && std::ranges::all_of(*info.shape, &Dim::known)) return;
        std::optional<Dims> dims = knownDims(value.type());
        if (!dims || (info.shape && info.shape->size() != dims->size())) return;
        if (!info.shape) info.shape.emplace(dims->size());
        info.assumedDims = std::move(dims);
    };
    for (const auto& value : values->value_info()) note(value);
    for (const auto& output : values->output()) note(output);
    for (const auto& input : model.graph().input()) note(input);
    if (onlySamplesAreDynamic(*inputs)) noteFixedDims(model, *inputs, builder);
}

/// Adds the dimensions of an output that its description leaves open.
void noteOpenDims(GraphBuilder& builder, const onnx::ValueInfoProto& output) {
    const std::optional<Shape> shape = shapeOf(output.type());
    if (!shape || !builder.hasTensor(output.name())) return;
    TensorInfo& info = builder.tensorInfo(builder.tensor(output.name()));
    if (!info.shape || info.shape->size() != shape->size()) return;
    for (std::size_t axis = 0; axis < shape->size(); ++axis)
        if (Dim& dim = (*info.shape)[axis]; !dim.known() && dim.symbol.empty()) dim = (*shape)[axis];
}

}  // namespace

std::optional<Shape> shapeOf(const onnx::TypeProto& type) {
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
    Shape shape;
    for (const auto& dim : type.tensor_type().shape().dim()) {
        Dim item;
        if (dim.has_dim_value() && dim.dim_value() >= 0)
            item.value = dim.dim_value();
        else if (dim.has_dim_param() &&
                 !dim.dim_param().starts_with("unk__"))  // generated by ONNX or tf2onnx
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

onnx::GraphProto shapesFromInputs(const onnx::ModelProto& model) {
    onnx::ModelProto skeleton = skeletonOf(model);
    forgetShapes(*skeleton.mutable_graph());
    return inferredValues(skeleton, true).value_or(onnx::GraphProto());
}

void inferShapes(const onnx::ModelProto& model, GraphBuilder& builder) {
    onnx::ModelProto copy = skeletonOf(model);
    std::optional<onnx::GraphProto> inferred = inferredValues(copy, false);
    if (!inferred) {  // some tools write wrong shapes, which end the inference
        forgetShapes(*copy.mutable_graph());
        inferred = inferredValues(copy, false);
    }
    if (!inferred) return;
    for (const auto& value : inferred->value_info()) noteType(builder, value);
    for (const auto& output : inferred->output()) noteOpenDims(builder, output);
    const bool complete = std::ranges::all_of(copy.graph().node(), [&](const onnx::NodeProto& node) {
        return std::ranges::all_of(node.output(), [&](const std::string& output) {
            if (!builder.hasTensor(output)) return true;
            const auto& shape = builder.tensorInfo(builder.tensor(output)).shape;
            return shape && std::ranges::all_of(*shape, &Dim::known);
        });
    });
    if (!complete) noteAssumedDims(copy, builder);
}

}  // namespace quantloupe
