// SPDX-License-Identifier: Apache-2.0
#include "model/changed_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/onnx_proto.h"

namespace quantloupe {
namespace {

/// The number of times that nodes, also those of subgraphs, read a tensor, or that it is an output.
std::size_t readersOf(const onnx::GraphProto& graph, const std::string& tensor) {
    auto count = static_cast<std::size_t>(std::ranges::count_if(
        graph.output(), [&](const onnx::ValueInfoProto& output) { return output.name() == tensor; }));
    for (const onnx::NodeProto& node : graph.node()) {
        count += static_cast<std::size_t>(std::ranges::count(node.input(), tensor));
        for (const onnx::AttributeProto& attribute : node.attribute()) {
            if (attribute.has_g()) count += readersOf(attribute.g(), tensor);
            for (const onnx::GraphProto& inner : attribute.graphs()) count += readersOf(inner, tensor);
        }
    }
    return count;
}

/// Keeps the addresses of the other nodes.
void removeUnread(onnx::GraphProto& whole, const std::set<std::string>& reshaped) {
    for (int n = whole.node_size(); n-- > 0;) {
        const onnx::NodeProto& node = whole.node(n);
        if (node.op_type() == "Reshape" && node.output_size() > 0 && reshaped.contains(node.output(0)) &&
            readersOf(whole, node.output(0)) == 0)
            whole.mutable_node()->DeleteSubrange(n, 1);
    }
}

void apply(const ConstantChange& change, onnx::TensorProto& constant) {
    constant.set_data_type(change.type);
    constant.clear_dims();
    constant.add_dims(change.rows);
    constant.add_dims(change.columns);
    if (change.bytes) constant.set_raw_data(*change.bytes);
}

}  // namespace

void ConstantChanges::apply(onnx::GraphProto& graph) {
    std::set<std::string> reshaped;
    for (auto& [node, change] : m_wanted) {
        std::string& input = *node->mutable_input(change.input);
        if (input != change.constant->name()) reshaped.insert(std::exchange(input, change.constant->name()));
    }
    removeUnread(graph, reshaped);
    std::set<std::string> names;
    while (!m_wanted.empty()) {
        // All nodes that want the same change of the same constant.
        const ConstantChange change = m_wanted.back().second;
        const auto same = std::stable_partition(m_wanted.begin(), m_wanted.end(), [&](const auto& wanted) {
            return !wanted.second.isSameAs(change);
        });
        const std::string name = change.constant->name();
        if (readersOf(graph, name) == static_cast<std::size_t>(m_wanted.end() - same)) {
            quantloupe::apply(change, *change.constant);
        } else {
            if (names.empty()) collectNames(graph, names);
            std::string unused = fmt::format("{}_{}x{}", name, change.rows, change.columns);
            while (!names.insert(unused).second) unused += '_';
            onnx::TensorProto& copy = *change.graph->add_initializer();
            copy = *change.constant;
            copy.set_name(unused);
            quantloupe::apply(change, copy);
            for (auto wanted = same; wanted != m_wanted.end(); ++wanted)
                wanted->first->set_input(wanted->second.input, unused);
        }
        m_wanted.erase(same, m_wanted.end());
    }
}

}  // namespace quantloupe
