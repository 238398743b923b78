// SPDX-License-Identifier: Apache-2.0
#include "model/load_model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <array>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/input_file.h"
#include "base/rethrow.h"
#include "base/short_text.h"
#include "model/early_opsets.h"
#include "model/fused_operators.h"
#include "model/graph_builder.h"
#include "model/half_networks.h"
#include "model/infer_shapes.h"
#include "model/inline_functions.h"
#include "model/module_paths.h"
#include "model/moved_constants.h"
#include "model/newer_fields.h"
#include "model/onnx_proto.h"
#include "model/operator_signatures.h"
#include "model/subgraphs.h"
#include "model/tensor_lists.h"
#include "model/unroll.h"

namespace quantloupe {
namespace {

/// Gives every node a unique name and appends a notice about each change.
std::vector<std::string> repairNames(const onnx::GraphProto& graph, std::vector<std::string>& notices) {
    std::unordered_set<std::string> taken;
    for (const auto& node : graph.node()) taken.insert(node.name());
    std::unordered_set<std::string> seen;
    std::unordered_map<std::string, int> tried;  // the last number after each stem that was taken
    std::vector<std::string> names, unnamed, repeated;
    for (int i = 0; i < graph.node_size(); ++i) {
        std::string name = graph.node(i).name();
        if (name.empty() || seen.contains(name)) {
            const bool isUnnamed = name.empty();
            const std::string stem = isUnnamed ? fmt::format("{}_{}", graph.node(i).op_type(), i) : name;
            name = isUnnamed ? stem : stem + "_1";
            int& k = tried.emplace(stem, isUnnamed ? 0 : 1).first->second;
            while (taken.contains(name) || seen.contains(name)) name = fmt::format("{}_{}", stem, ++k);
            if (graph.node(i).op_type() != "Constant") (isUnnamed ? unnamed : repeated).push_back(name);
        }
        seen.insert(name);
        names.push_back(name);
    }
    const auto tell = [&](const std::vector<std::string>& list, const char* what) {
        if (list.empty()) return;
        const std::size_t shown = std::min<std::size_t>(list.size(), 3);
        notices.push_back(fmt::format(
            "{} {} and {} called {}{}", counted(list.size(), "node"), what, list.size() == 1 ? "is" : "are",
            fmt::join(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
            list.size() > shown ? ", ..." : ""));
    };
    tell(unnamed, "had no name");
    tell(repeated, "had the name of another");
    return names;
}

template <typename T>
const T& valueOf(const AttributeValue& value, const std::string& attribute) {
    if (const auto* found = std::get_if<T>(&value)) return *found;
    failInput("its attribute '{}' has a value of another type than its name says", attribute);
}

/// The value of a Constant node in any of its forms; null for unsupported ones.
ConstantPtr constantNodeValue(const onnx::NodeProto& node, const std::shared_ptr<const void>& owner,
                              const std::filesystem::path& folder) {
    for (int i = 0; i < node.attribute_size(); ++i) {
        const AttributeValue value = attributeFromProto(node, i, owner, folder);
        const std::string& name = node.attribute(i).name();
        if (name == "value") {
            if (const auto* constant = std::get_if<ConstantPtr>(&value)) return *constant;
        } else if (name == "value_float") {
            return Constant::fromFloats({}, {valueOf<float>(value, name)});
        } else if (name == "value_floats") {
            const auto& list = valueOf<std::vector<float>>(value, name);
            return Constant::fromFloats({static_cast<std::int64_t>(list.size())}, list);
        } else if (name == "value_int") {
            return Constant::fromInt64s({}, {valueOf<std::int64_t>(value, name)});
        } else if (name == "value_ints") {
            const auto& list = valueOf<std::vector<std::int64_t>>(value, name);
            return Constant::fromInt64s({static_cast<std::int64_t>(list.size())}, list);
        }
    }
    return nullptr;
}

/// State shared by all graphs of a file.
struct Loading {
    const onnx::ModelProto& model;
    std::shared_ptr<const void> owner;
    std::filesystem::path folder;
};

GraphPtr subgraphFrom(const onnx::GraphProto& proto, const Loading& loading,
                      const std::vector<std::string>& captures);

Node nodeFrom(const onnx::NodeProto& item, const std::string& name, const Loading& loading,
              GraphBuilder& builder) {
    if (item.op_type().empty()) failInput("it has no operator");
    Node node;
    node.name = name;
    node.op = item.op_type();
    node.modulePath = pathFromScopes(metadataOf(item, kModuleScopesKey), node.op);
    node.domain = item.domain() == "ai.onnx" ? "" : item.domain();
    for (const std::string& in : item.input())
        node.inputs.push_back(in.empty() ? TensorId() : builder.tensor(in));
    for (const std::string& out : item.output())
        node.outputs.push_back(out.empty() ? TensorId() : builder.tensor(out));
    for (int a = 0; a < item.attribute_size(); ++a) {
        AttributeValue value = attributeFromProto(item, a, loading.owner, loading.folder);
        // A damaged attribute has a graph, but another type.
        if (auto* subgraph = std::get_if<OpaqueAttribute>(&value); subgraph && item.attribute(a).has_g()) {
            subgraph->captures = freeNames(item.attribute(a).g());
            subgraph->graph = subgraphFrom(item.attribute(a).g(), loading, subgraph->captures);
        }
        node.attributes.set(item.attribute(a).name(), std::move(value));
    }
    checkSignature(node, node.inputs.size());
    for (const std::string& captured : capturedNames(node.attributes))
        node.inputs.push_back(builder.tensor(captured));
    return node;
}

void addInitializers(const onnx::GraphProto& proto, const Loading& loading, GraphBuilder& builder) {
    for (const auto& tensor : proto.initializer()) {
        try {
            if (tensor.name().empty()) failInput("it has no name");
            if (builder.hasTensor(tensor.name())) failInput("there are two with this name");
            builder.addConstant(tensor.name(), constantFromProto(tensor, loading.owner, loading.folder));
        } catch (Error& error) {
            error.addContext(fmt::format("initializer '{}'", tensor.name()));
            throw;
        }
    }
    if (proto.sparse_initializer_size() > 0)
        fail(ErrorKind::Unsupported,
             "sparse initializers are not supported; save the model with dense weights");
}

void addNodes(const onnx::GraphProto& proto, const std::vector<std::string>& names, const Loading& loading,
              GraphBuilder& builder) {
    std::unordered_map<std::string, int> samePaths;
    for (int n = 0; n < proto.node_size(); ++n) {
        const onnx::NodeProto& item = proto.node(n);
        const std::string& name = names[static_cast<std::size_t>(n)];
        try {
            if (item.op_type() == "Constant" && item.output_size() == 1) {
                if (ConstantPtr value = constantNodeValue(item, loading.owner, loading.folder)) {
                    const TensorId id = builder.tensor(item.output(0));
                    if (const TensorInfo& info = builder.tensorInfo(id); info.constant || info.graphInput)
                        failInput("its output '{}' is also {}", info.name,
                                  info.constant ? "another constant" : "a graph input");
                    builder.setConstant(id, std::move(value));
                    builder.tensorInfo(id).constantNode = true;
                    continue;
                }
            }
            Node node = nodeFrom(item, name, loading, builder);
            // As TorchScript's exporter does: "Conv", "Conv_1".
            if (const int before = node.modulePath.empty() ? 0 : samePaths[node.modulePath]++; before > 0)
                node.modulePath += fmt::format("_{}", before);
            builder.addNode(std::move(node));
        } catch (Error& error) {
            error.addContext(fmt::format("node '{}' ({})", name, item.op_type()));
            throw;
        }
    }
}

void addOutputs(const onnx::GraphProto& proto, GraphBuilder& builder) {
    for (const auto& output : proto.output()) {
        if (!builder.hasTensor(output.name()))
            failInput("the graph output '{}' is not produced by any node", output.name());
        builder.addOutput(builder.tensor(output.name()));
        noteType(builder, output);
    }
    for (const auto& value : proto.value_info()) noteType(builder, value);
}

void setOpsets(const onnx::ModelProto& model, ModelFacts& facts) {
    for (const auto& opset : model.opset_import())
        facts.opsets[opset.domain() == "ai.onnx" ? "" : opset.domain()] = opset.version();
}

GraphPtr subgraphFrom(const onnx::GraphProto& proto, const Loading& loading,
                      const std::vector<std::string>& captures) {
    GraphBuilder builder;
    builder.facts().graphName = proto.name();
    setOpsets(loading.model, builder.facts());
    addInitializers(proto, loading, builder);
    for (const auto& input : proto.input()) {
        const TensorId id = builder.tensor(input.name());
        if (builder.tensorInfo(id).graphInput)
            failInput("two inputs of the subgraph '{}' are called '{}'", proto.name(), input.name());
        builder.addInput(id, static_cast<DataType>(input.type().tensor_type().elem_type()),
                         shapeOf(input.type()));
    }
    for (const std::string& captured : captures)
        builder.addInput(builder.tensor(captured), DataType::Undefined, std::nullopt);
    std::vector<std::string> ignored;
    addNodes(proto, repairNames(proto, ignored), loading, builder);
    addOutputs(proto, builder);
    return builder.build();
}

GraphPtr graphFromProto(onnx::ModelProto& model, const std::shared_ptr<const void>& owner,
                        const std::filesystem::path& folder, std::vector<std::string>& notices) {
    onnx::GraphProto& proto = *model.mutable_graph();
    if (const std::size_t calls = inlineFunctions(model); calls > 0)
        notices.push_back(fmt::format("{} {} of functions that the file defines became plain nodes", calls,
                                      calls == 1 ? "call" : "calls"));
    updateEarlyOpsets(model);
    expandFusedOperators(model, notices);
    if (computesInHalf(proto)) {
        halfToFloat32(proto, folder);
        notices.emplace_back(
            "the network computes in float16 or bfloat16; here, and in exported models, it computes in "
            "float32, which is also the type of the inputs and outputs");
    }
    if (computesInDouble(proto)) {
        doubleToFloat32(proto, folder);
        notices.emplace_back(
            "the network computes in float64; here, and in exported models, it computes in float32, which is "
            "also the type of the inputs and outputs");
    }
    unrollConstantControlFlow(model, notices);
    appendedListsBecomeScanOutputs(proto);
    const Loading loading{model, owner, folder};
    GraphBuilder builder;
    ModelFacts& facts = builder.facts();
    facts.graphName = proto.name();
    facts.producer = model.producer_name();
    facts.producerVersion = model.producer_version();
    facts.domain = model.domain();
    facts.modelVersion = model.model_version();
    facts.modelDescription = model.doc_string();
    facts.graphDescription = proto.doc_string();
    facts.irVersion = model.ir_version();
    setOpsets(model, facts);
    for (const auto& entry : model.metadata_props()) facts.metadata[entry.key()] = entry.value();
    for (const auto* values : {&proto.input(), &proto.output()})
        for (const auto& value : *values)
            if (value.type().value_case() != onnx::TypeProto::VALUE_NOT_SET &&
                !value.type().has_tensor_type())
                facts.otherTypes[value.name()] = value.type().SerializeAsString();

    addInitializers(proto, loading, builder);
    for (const auto& input : proto.input()) {
        if (input.name().empty()) failInput("a graph input has no name");
        const TensorId id = builder.tensor(input.name());
        if (builder.tensorInfo(id).constant) continue;  // older files list the initializers as inputs, too
        if (builder.tensorInfo(id).graphInput) failInput("two graph inputs are called '{}'", input.name());
        builder.addInput(id, static_cast<DataType>(input.type().tensor_type().elem_type()),
                         shapeOf(input.type()));
    }
    addNodes(proto, repairNames(proto, notices), loading, builder);
    addOutputs(proto, builder);
    inferShapes(model, builder);
    foldConstantIdentities(builder);
    return builder.build();
}

/// Reports oddities without rejecting the model: newer models must load with an older library.
void checkShape(const LoadedModel& model, std::vector<std::string>& notices) {
    if (model.graph->nodeCount() == 0) notices.emplace_back("the graph has no nodes");
    for (const TensorInfo& tensor : model.graph->tensors()) {
        if (!tensor.constant || tensor.constant->type() != DataType::Float32) continue;
        for (const float value : tensor.constant->floats()) {
            if (!std::isnan(value)) continue;
            notices.push_back(fmt::format("the weight '{}' contains NaN", tensor.name));
            break;
        }
    }
}

}  // namespace

namespace {

LoadedModel parse(google::protobuf::io::ZeroCopyInputStream& stream, std::size_t size, std::string_view head,
                  const std::filesystem::path& folder, const InputChanges& changes = {}) {
    auto proto = std::make_shared<onnx::ModelProto>();
    if (size > 0x7fffffff)
        failInput(
            "it is larger than the 2 GiB that an ONNX file can have; weights beyond that belong into "
            "external data");
    if (size == 0) failInput("the file is empty");
    if (head.starts_with("version https://git-lfs"))
        failInput("this is a Git LFS pointer, not the model; fetch it with 'git lfs pull'");
    google::protobuf::io::CodedInputStream coded(&stream);
    coded.SetTotalBytesLimit(0x7fffffff);
    const bool parsed = proto->ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
    if (!parsed || !proto->has_graph())
        failInput(
            "this is not an ONNX model, or it is truncated: its {} bytes do not parse as one. Was the "
            "download or export complete?",
            size);
    if (proto->opset_import_size() == 0 && proto->ir_version() >= 3)
        failInput("the model names no operator set; export it again");

    LoadedModel model;
    const std::set<std::filesystem::path> dataFiles = externalFiles(proto->graph(), folder);
    model.dataFiles.assign(dataFiles.begin(), dataFiles.end());
    setInputs(*proto, changes);
    // Names and structure come from the message that owns the weights; only the node list is processed again.
    model.graph = graphFromProto(*proto, proto, folder, model.notices);
    checkShape(model, model.notices);
    constexpr std::int64_t kNewest = 28;
    if (model.graph->opset() > kNewest)
        model.notices.push_back(fmt::format(
            "the model has opset {}, but operators are known up to opset {}: compare the float network with "
            "ONNX Runtime, because an operator may be defined differently",
            model.graph->opset(), kNewest));
    return model;
}

}  // namespace

LoadedModel parseModel(const void* data, std::size_t size, const std::filesystem::path& folder) {
    google::protobuf::io::ArrayInputStream stream(data,
                                                  static_cast<int>(std::min<std::size_t>(size, 0x7fffffff)));
    return parse(stream, size, {static_cast<const char*>(data), std::min<std::size_t>(size, 64)}, folder);
}

namespace {

/// Reads the file in blocks, so that the weights are in memory only once, in the parsed message.
LoadedModel parseFile(const std::filesystem::path& path, const InputChanges& changes) {
    const InputFile file(path);
    std::array<char, 64> head{};
    const auto known = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), head.size()));
    file.read(head.data(), known, 0);
    google::protobuf::io::FileInputStream stream(file.descriptor(), 1 << 20);
    return parse(stream, file.size(), {head.data(), known}, path.parent_path(), changes);
}

}  // namespace

LoadedModel loadModel(const std::filesystem::path& path, const InputChanges& changes) {
    try {
        LoadedModel model = parseFile(path, changes);
        model.path = path;
        return model;
    } catch (...) {
        rethrowWithContext(fmt::format("model '{}'", path.filename().string()));
    }
}

}  // namespace quantloupe
