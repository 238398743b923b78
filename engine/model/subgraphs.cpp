// SPDX-License-Identifier: Apache-2.0
#include "model/subgraphs.h"

#include <onnx/onnx_pb.h>

#include <set>

namespace quantloupe {
namespace {

void collectFree(const onnx::GraphProto& graph, std::set<std::string>& free) {
    std::set<std::string> defined{""}, read;
    for (const auto& input : graph.input()) defined.insert(input.name());
    for (const auto& tensor : graph.initializer()) defined.insert(tensor.name());
    for (const auto& node : graph.node()) {
        for (const std::string& out : node.output()) defined.insert(out);
        for (const std::string& in : node.input()) read.insert(in);
        for (const auto& attribute : node.attribute())
            if (attribute.has_g()) collectFree(attribute.g(), read);
    }
    for (const auto& output : graph.output()) read.insert(output.name());
    for (const std::string& name : read)
        if (!defined.contains(name)) free.insert(name);
}

}  // namespace

std::vector<std::string> capturedNames(const Attributes& attributes) {
    std::set<std::string> names;
    for (const auto& [name, value] : attributes)
        if (const auto* opaque = std::get_if<OpaqueAttribute>(&value))
            names.insert(opaque->captures.begin(), opaque->captures.end());
    return {names.begin(), names.end()};
}

std::size_t formalInputs(const Node& node) {
    return node.inputs.size() - capturedNames(node.attributes).size();
}

std::vector<std::string> freeNames(const onnx::GraphProto& graph) {
    std::set<std::string> free;
    collectFree(graph, free);
    return {free.begin(), free.end()};
}

void renameCaptured(onnx::GraphProto& graph, const std::map<std::string, std::string>& outer) {
    std::map<std::string, std::string> names = outer;
    for (const auto& input : graph.input()) names.erase(input.name());
    for (const auto& tensor : graph.initializer()) names.erase(tensor.name());
    for (const auto& node : graph.node())
        for (const std::string& out : node.output()) names.erase(out);
    const auto rename = [&](std::string* name) {
        if (const auto found = names.find(*name); found != names.end()) *name = found->second;
    };
    for (auto& node : *graph.mutable_node()) {
        for (std::string& in : *node.mutable_input()) rename(&in);
        for (auto& attribute : *node.mutable_attribute())
            if (attribute.has_g()) renameCaptured(*attribute.mutable_g(), names);
    }
    for (auto& output : *graph.mutable_output()) rename(output.mutable_name());
}

}  // namespace quantloupe
