// SPDX-License-Identifier: Apache-2.0
#include "model/inline_functions.h"

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "model/module_paths.h"
#include "model/newer_fields.h"
#include "model/onnx_proto.h"
#include "model/subgraphs.h"

namespace quantloupe {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxNodes = 200000;                ///< the most that inlining may add
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;  ///< likewise

using Names = std::map<std::string, std::string>;
using AttributesByName = std::map<std::string, onnx::AttributeProto>;

std::string domainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

/// Returns the function's attributes with default values.
AttributesByName defaultsOf(const onnx::FunctionProto& function) {
    constexpr int kAttributeProto = 11;
    AttributesByName defaults;
    for (const auto& attribute : itemsOf<onnx::AttributeProto>(function, kAttributeProto))
        defaults.emplace(attribute.name(), attribute);
    return defaults;
}

/// Replaces references to attributes of the function by the values of the call, also in subgraphs.
void resolveAttributes(onnx::NodeProto& node, const AttributesByName& values) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> resolved;
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.ref_attr_name().empty()) {
            if (attribute.has_g())
                for (onnx::NodeProto& inner : *attribute.mutable_g()->mutable_node())
                    resolveAttributes(inner, values);
            *resolved.Add() = std::move(attribute);
        } else if (const auto value = values.find(attribute.ref_attr_name()); value != values.end()) {
            onnx::AttributeProto& copy = *resolved.Add() = value->second;
            copy.set_name(attribute.name());
        }  // an attribute that the call omits has the operator's own default
    }
    node.mutable_attribute()->Swap(&resolved);
}

class Inliner {
  public:
    explicit Inliner(onnx::ModelProto& model) : m_model(model) {
        collectNames(model.graph(), m_taken);
        for (const onnx::FunctionProto& function : model.functions())
            if (!m_functions.emplace(std::pair(domainOf(function.domain()), function.name()), &function)
                     .second)
                failInput("there are two functions '{}' in the domain '{}'", function.name(),
                          function.domain());
    }

    std::size_t run() {
        expand(*m_model.mutable_graph(), 0);
        return m_calls;
    }

  private:
    const onnx::FunctionProto* functionOf(const onnx::NodeProto& node) const {
        const auto found = m_functions.find({domainOf(node.domain()), node.op_type()});
        return found == m_functions.end() ? nullptr : found->second;
    }

    void expand(onnx::GraphProto& graph, int depth) {
        google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
        nodes.Swap(graph.mutable_node());
        for (int n = 0; n < nodes.size(); ++n) add(std::move(nodes[n]), n, *graph.mutable_node(), depth);
    }

    /// Adds the node, or the nodes of the function that it calls.
    void add(onnx::NodeProto&& node, int index, google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
             int depth) {
        for (auto& attribute : *node.mutable_attribute())
            if (attribute.has_g()) expand(*attribute.mutable_g(), depth);
        const onnx::FunctionProto* function = functionOf(node);
        if (function == nullptr) {
            *nodes.Add() = std::move(node);
            return;
        }
        ++m_calls;
        if (depth >= kMaxDepth)
            failInput("the function '{}' calls itself, or functions are nested more than {} levels deep",
                      function->name(), kMaxDepth);
        if (node.input_size() > function->input_size() || node.output_size() > function->output_size())
            failInput("node '{}' has {} inputs and {} outputs, but the function '{}' has {} and {}",
                      node.name(), node.input_size(), node.output_size(), function->name(),
                      function->input_size(), function->output_size());
        importOpsets(*function);
        const std::string call =
            node.name().empty() ? fmt::format("{}_{}", node.op_type(), index) : node.name();
        const std::string scopes = metadataOf(node, kModuleScopesKey);
        const Names names = namesOf(node, *function, call + "/", nodes);
        AttributesByName attributes = defaultsOf(*function);
        for (const auto& attribute : node.attribute()) attributes[attribute.name()] = attribute;
        for (int n = 0; n < function->node_size(); ++n) {
            m_bytes += function->node(n).ByteSizeLong();
            if (++m_added > kMaxNodes || m_bytes > kMaxBytes)
                failInput("its functions would become more than {} nodes or {} MiB", kMaxNodes,
                          kMaxBytes >> 20);
            onnx::NodeProto copy = function->node(n);
            resolveAttributes(copy, attributes);
            if (!scopes.empty() && metadataOf(copy, kModuleScopesKey).empty())
                addMetadata(copy, kModuleScopesKey, scopes);
            copy.set_name(call + "/" +
                          (copy.name().empty() ? fmt::format("{}_{}", copy.op_type(), n) : copy.name()));
            for (std::string& in : *copy.mutable_input())
                if (!in.empty()) in = names.at(in);
            for (std::string& out : *copy.mutable_output())
                if (!out.empty()) out = names.at(out);
            for (auto& attribute : *copy.mutable_attribute())
                if (attribute.has_g()) renameCaptured(*attribute.mutable_g(), names);
            add(std::move(copy), n, nodes, depth + 1);
        }
    }

    /// Maps the tensors of a function to those of a call. An output that is an input, or listed
    /// twice, becomes an Identity.
    Names namesOf(const onnx::NodeProto& node, const onnx::FunctionProto& function, const std::string& prefix,
                  google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
        Names names;
        std::set<std::string> computed;
        for (int i = 0; i < function.input_size(); ++i)
            names[function.input(i)] = i < node.input_size() ? node.input(i) : "";
        for (const auto& inner : function.node()) {
            for (const std::string& in : inner.input())
                if (!in.empty() && !names.contains(in))
                    failInput("function '{}': node '{}' ({}) reads '{}', which nothing before it produces",
                              function.name(), inner.name(), inner.op_type(), in);
            for (const std::string& out : inner.output()) {
                if (out.empty()) continue;
                if (names.contains(out))
                    failInput("function '{}': '{}' is produced twice", function.name(), out);
                names[out] = unusedName(prefix + out);
                computed.insert(out);
            }
        }
        for (int o = 0; o < node.output_size(); ++o) {
            if (node.output(o).empty()) continue;
            const auto produced = names.find(function.output(o));
            if (produced == names.end())
                failInput("function '{}': nothing produces its output '{}'", function.name(),
                          function.output(o));
            if (computed.erase(function.output(o)) > 0) {
                produced->second = node.output(o);
                continue;
            }
            onnx::NodeProto& identity = *nodes.Add();
            identity.set_op_type("Identity");
            identity.set_name(prefix + function.output(o));
            identity.add_input(produced->second);
            identity.add_output(node.output(o));
        }
        return names;
    }

    std::string unusedName(const std::string& stem) {
        if (m_taken.insert(stem).second) return stem;
        int& tried = m_tried[stem];
        std::string name;
        do name = fmt::format("{}_{}", stem, ++tried);
        while (!m_taken.insert(name).second);
        return name;
    }

    void importOpsets(const onnx::FunctionProto& function) {
        for (const auto& opset : function.opset_import()) {
            bool known = false;
            for (const auto& own : m_model.opset_import())
                known = known || domainOf(own.domain()) == domainOf(opset.domain());
            if (!known) *m_model.add_opset_import() = opset;
        }
    }

    onnx::ModelProto& m_model;
    std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> m_functions;
    std::set<std::string> m_taken;
    std::map<std::string, int> m_tried;  ///< the last number after each stem that was taken
    std::size_t m_calls = 0, m_added = 0, m_bytes = 0;
};

}  // namespace

std::size_t inlineFunctions(onnx::ModelProto& model) {
    if (model.functions_size() == 0) return 0;
    const std::size_t calls = Inliner(model).run();
    model.clear_functions();
    return calls;
}

}  // namespace quantloupe
