// SPDX-License-Identifier: Apache-2.0
#include "model/unread_nodes.h"

#include <vector>

#include "base/is_one_of.h"
#include "model/subgraphs.h"

namespace quantloupe {

NodePositions ancestorsOf(const onnx::GraphProto& graph, const std::map<std::string, std::int64_t>& tensors) {
    NodePositions producers, ancestors;
    for (int n = 0; n < graph.node_size(); ++n)
        if (graph.node(n).output_size() == 1) producers[graph.node(n).output(0)] = n;
    std::vector<std::string> open;
    for (const auto& [tensor, value] : tensors) open.push_back(tensor);
    while (!open.empty()) {
        const auto producer = producers.find(open.back());
        open.pop_back();
        if (producer == producers.end() || !ancestors.insert(*producer).second) continue;
        const onnx::NodeProto& node = graph.node(producer->second);
        open.insert(open.end(), node.input().begin(), node.input().end());
    }
    return ancestors;
}

NodePositions sequencesOf(const onnx::GraphProto& graph) {
    NodePositions found;
    for (int n = 0; n < graph.node_size(); ++n) {
        const onnx::NodeProto& node = graph.node(n);
        if (node.output_size() == 1 && isOneOf(node.op_type(), {"SequenceEmpty", "SequenceConstruct",
                                                                "SequenceInsert", "SequenceErase"}))
            found[node.output(0)] = n;
    }
    return found;
}

void removeNodes(onnx::GraphProto& graph, const std::set<int>& positions) {
    google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
    for (int n = 0; n < graph.node_size(); ++n)
        if (!positions.contains(n)) *kept.Add() = std::move(*graph.mutable_node(n));
    kept.Swap(graph.mutable_node());
}

void removeUnread(onnx::GraphProto& graph, const NodePositions& nodes) {
    std::map<std::string, std::size_t> readers;
    for (const auto& output : graph.output()) ++readers[output.name()];
    for (const onnx::NodeProto& node : graph.node()) {
        for (const std::string& name : node.input()) ++readers[name];
        for (const auto& attribute : node.attribute())
            if (attribute.has_g())
                for (const std::string& name : freeNames(attribute.g())) ++readers[name];
    }
    std::vector<int> unread;
    for (const auto& [name, position] : nodes)
        if (readers[name] == 0) unread.push_back(position);
    std::set<int> dead;
    while (!unread.empty()) {
        const int position = unread.back();
        unread.pop_back();
        dead.insert(position);
        for (const std::string& name : graph.node(position).input())
            if (const auto node = nodes.find(name); --readers[name] == 0 && node != nodes.end())
                unread.push_back(node->second);
    }
    removeNodes(graph, dead);
}

}  // namespace quantloupe
