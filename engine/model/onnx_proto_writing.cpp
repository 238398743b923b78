// SPDX-License-Identifier: Apache-2.0
// Converts our types to ONNX's protobuf messages.
#include <onnx/onnx_pb.h>

#include "model/module_paths.h"
#include "model/newer_fields.h"
#include "model/onnx_proto.h"
#include "model/subgraphs.h"

namespace quantloupe {

void constantToProto(const Constant& constant, onnx::TensorProto& tensor) {
    tensor.set_data_type(static_cast<int>(constant.type()));
    for (const std::int64_t dim : constant.dims()) tensor.add_dims(dim);
    if (constant.type() == DataType::UInt4 || constant.type() == DataType::Int4) {
        std::string pairs((constant.bytes().size() + 1) / 2, '\0');
        for (std::size_t i = 0; i < constant.bytes().size(); ++i) {
            const unsigned code = std::to_integer<unsigned>(constant.bytes()[i]) & 15u;
            pairs[i / 2] =
                static_cast<char>(static_cast<unsigned char>(pairs[i / 2]) | (i % 2 == 0 ? code : code << 4));
        }
        tensor.set_raw_data(std::move(pairs));
        return;
    }
    tensor.set_raw_data(constant.bytes().data(), constant.bytes().size());
}

namespace {

void attributeToProto(const std::string& name, const AttributeValue& value, onnx::NodeProto& node) {
    onnx::AttributeProto& out = *node.add_attribute();
    struct Visitor {
        onnx::AttributeProto& out;
        void operator()(std::int64_t v) const { out.set_type(onnx::AttributeProto::INT), out.set_i(v); }
        void operator()(float v) const { out.set_type(onnx::AttributeProto::FLOAT), out.set_f(v); }
        void operator()(const std::string& v) const {
            out.set_type(onnx::AttributeProto::STRING), out.set_s(v);
        }
        void operator()(const std::vector<std::int64_t>& v) const {
            out.set_type(onnx::AttributeProto::INTS);
            for (const auto item : v) out.add_ints(item);
        }
        void operator()(const std::vector<float>& v) const {
            out.set_type(onnx::AttributeProto::FLOATS);
            for (const auto item : v) out.add_floats(item);
        }
        void operator()(const std::vector<std::string>& v) const {
            out.set_type(onnx::AttributeProto::STRINGS);
            for (const auto& item : v) out.add_strings(item);
        }
        void operator()(const ConstantPtr& v) const {
            out.set_type(onnx::AttributeProto::TENSOR);
            constantToProto(*v, *out.mutable_t());
        }
        void operator()(const OpaqueAttribute& v) const { out.ParseFromString(v.serialized); }
    };
    std::visit(Visitor{out}, value);
    out.set_name(name);
}

void typeToProto(const TensorInfo& tensor, const ModelFacts& facts, onnx::ValueInfoProto& value) {
    value.set_name(tensor.name);
    if (const auto found = facts.otherTypes.find(tensor.name); found != facts.otherTypes.end()) {
        value.mutable_type()->ParseFromString(found->second);
        return;
    }
    if (tensor.type == DataType::Undefined) return;  // the reader infers it
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(static_cast<int>(tensor.type));
    if (!tensor.shape) return;
    auto& shape = *type.mutable_shape();
    for (const Dim& dim : *tensor.shape) {
        auto& out = *shape.add_dim();
        if (dim.known())
            out.set_dim_value(dim.value);
        else if (!dim.symbol.empty())
            out.set_dim_param(dim.symbol);
    }
}

}  // namespace

void graphToProto(const Graph& graph, onnx::ModelProto& model) {
    const ModelFacts& facts = graph.facts();
    model.set_ir_version(facts.irVersion);
    model.set_producer_name(facts.producer);
    model.set_producer_version(facts.producerVersion);
    model.set_domain(facts.domain);
    model.set_model_version(facts.modelVersion);
    model.set_doc_string(facts.modelDescription);
    for (const auto& [domain, version] : facts.opsets) {
        auto& opset = *model.add_opset_import();
        opset.set_domain(domain);
        opset.set_version(version);
    }
    for (const auto& [key, value] : facts.metadata) {
        auto& entry = *model.add_metadata_props();
        entry.set_key(key);
        entry.set_value(value);
    }
    onnx::GraphProto& out = *model.mutable_graph();
    out.set_name(facts.graphName);
    out.set_doc_string(facts.graphDescription);
    for (const TensorId id : graph.inputs()) typeToProto(graph.tensor(id), facts, *out.add_input());
    for (const TensorId id : graph.outputs()) typeToProto(graph.tensor(id), facts, *out.add_output());
    for (const TensorInfo& tensor : graph.tensors()) {
        if (!tensor.constant) continue;
        onnx::TensorProto& initializer = *out.add_initializer();
        initializer.set_name(tensor.name);
        constantToProto(*tensor.constant, initializer);
        // older files list initializers as inputs
        if (facts.irVersion < 4) typeToProto(tensor, facts, *out.add_input());
    }
    // Other tools cannot infer the types of tensors that operators of other domains produce.
    for (const TensorInfo& tensor : graph.tensors())
        if (tensor.producer.valid() && !tensor.graphOutput && tensor.type != DataType::Undefined)
            typeToProto(tensor, facts, *out.add_value_info());
    for (const Node& node : graph.nodes()) {
        onnx::NodeProto& item = *out.add_node();
        item.set_name(node.name);
        item.set_op_type(node.op);
        item.set_domain(node.domain);
        if (!node.modulePath.empty())
            addMetadata(item, kModuleScopesKey, scopesFromPath(node.modulePath, node.name));
        const std::vector<std::string> captured = capturedNames(node.attributes);
        const std::size_t formal = node.inputs.size() - captured.size();
        std::map<std::string, std::string> renamed;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const std::string name = node.inputs[i].valid() ? graph.tensor(node.inputs[i]).name : "";
            if (i < formal)
                item.add_input(name);
            else if (name != captured[i - formal])
                renamed[captured[i - formal]] = name;
        }
        for (const TensorId id : node.outputs) item.add_output(id.valid() ? graph.tensor(id).name : "");
        for (const auto& [name, value] : node.attributes) attributeToProto(name, value, item);
        if (renamed.empty()) continue;
        for (auto& attribute : *item.mutable_attribute())
            if (attribute.has_g()) renameCaptured(*attribute.mutable_g(), renamed);
    }
}

}  // namespace quantloupe
