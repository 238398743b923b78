// SPDX-License-Identifier: Apache-2.0
// Loops: a scan output stacks the values of all iterations along a new first dimension: T × before × after,
// where `before` are the dimensions in front of the axis of ConcatFromSequence. The values' rank may be
// unknown, so the axis is moved with computed shapes: reshaped to T × P × Q, transposed to P × T × Q, and
// reshaped to before × T × after, or, without a new axis, to before × (T · d) × after.
#include "model/tensor_lists.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/onnx_proto.h"
#include "model/subgraphs.h"

namespace quantloupe {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

std::int64_t integerOf(const onnx::NodeProto& node, const char* name) {
    for (const auto& attribute : node.attribute())
        if (attribute.name() == name) return attribute.i();
    return 0;
}

/// The number of times that the graph reads the tensor, also in subgraphs and as an output.
std::size_t readersOf(const onnx::GraphProto& graph, const std::string& tensor) {
    std::size_t readers = 0;
    for (const onnx::NodeProto& node : graph.node()) {
        readers += static_cast<std::size_t>(std::ranges::count(node.input(), tensor));
        for (const auto& attribute : node.attribute())
            if (attribute.has_g())
                readers += static_cast<std::size_t>(std::ranges::count(freeNames(attribute.g()), tensor));
    }
    for (const auto& output : graph.output()) readers += output.name() == tensor;
    return readers;
}

const onnx::NodeProto* producerOf(const Nodes& nodes, const std::string& tensor) {
    for (const onnx::NodeProto& node : nodes)
        if (std::ranges::find(node.output(), tensor) != node.output().end()) return &node;
    return nullptr;
}

bool isJoin(const onnx::NodeProto& node) {
    return node.op_type() == "ConcatFromSequence" && node.input_size() == 1 && node.output_size() == 1;
}

constexpr std::int64_t kFixed = -1;  ///< the same in every iteration, but unknown

/// The dimension `axis` of a tensor of the first of the nested graphs, of which the last two are the body and
/// the graph around it, if it is the same in every iteration as far as can be seen. Sums are assumed to have
/// the shape of their first operand. If that is wrong, the Loop cannot be compiled, and is not evaluated.
std::optional<std::int64_t> fixedExtent(const std::vector<const onnx::GraphProto*>& graphs,
                                        const std::string& tensor, std::int64_t axis, int depth = 0) {
    constexpr int kFarthest = 20;
    if (depth > kFarthest) return {};
    const auto constantOf = [&](const std::string& name) -> const onnx::TensorProto* {
        for (const onnx::GraphProto* graph : graphs)
            for (const auto& constant : graph->initializer())
                if (constant.name() == name) return &constant;
        return nullptr;
    };
    if (const onnx::TensorProto* constant = constantOf(tensor))
        return axis < constant->dims_size() ? std::optional(constant->dims(static_cast<int>(axis)))
                                            : std::nullopt;
    const onnx::NodeProto* node = nullptr;
    for (const onnx::GraphProto* graph : graphs)
        if (node == nullptr) node = producerOf(graph->node(), tensor);
    if (node == nullptr) return {};
    static constexpr std::array kSameShape = {"Identity", "Cast", "Relu", "Tanh", "Sigmoid",
                                              "Add",      "Sub",  "Mul",  "Div"};
    if (std::ranges::find(kSameShape, node->op_type()) != kSameShape.end() && node->input_size() > 0)
        return fixedExtent(graphs, node->input(0), axis, depth + 1);
    // A slice of a tensor from outside, at the iteration's number.
    const onnx::GraphProto &body = *graphs[graphs.size() - 2], &outer = *graphs.back();
    if (node->op_type() == "Gather" && node->input_size() == 2 && node->input(1) == body.input(0).name()) {
        const auto isData = [&](const auto& input) { return input.name() == node->input(0); };
        if (std::ranges::any_of(outer.input(), isData) || producerOf(outer.node(), node->input(0)) != nullptr)
            return kFixed;
    }
    if (node->op_type() == "If") {
        std::optional<std::int64_t> common;
        for (const auto& attribute : node->attribute()) {
            if (!attribute.has_g() || attribute.g().output_size() != 1) continue;
            std::vector<const onnx::GraphProto*> inner{&attribute.g()};
            inner.insert(inner.end(), graphs.begin(), graphs.end());
            const auto extent = fixedExtent(inner, attribute.g().output(0).name(), axis, depth + 1);
            if (!extent || (common && *common != *extent)) return {};
            common = extent;
        }
        return common;
    }
    if (!node->op_type().starts_with("Reduce")) return {};
    std::vector<std::int64_t> axes;
    for (const auto& attribute : node->attribute()) {
        if (attribute.name() == "keepdims" && attribute.i() == 0) return {};
        if (attribute.name() == "axes") axes = {attribute.ints().begin(), attribute.ints().end()};
    }
    if (node->input_size() > 1)
        if (const onnx::TensorProto* constant = constantOf(node->input(1)))
            if (const auto only = scalarOf(*constant)) axes = {*only};
    return std::ranges::find(axes, axis) != axes.end() ? std::optional<std::int64_t>(1) : std::nullopt;
}

class ListLoops {
  public:
    explicit ListLoops(onnx::GraphProto& graph) : m_graph(graph) { collectNames(graph, m_names); }

    std::size_t run() {
        std::size_t changed = 0;
        for (onnx::NodeProto& node : *m_graph.mutable_node())
            if (node.op_type() == "Loop" && isStandardDomain(node.domain()))
                for (auto& attribute : *node.mutable_attribute())
                    if (attribute.name() == "body" && attribute.has_g())
                        changed += changeLoop(node, *attribute.mutable_g());
        if (changed == 0) return 0;
        std::erase_if(m_empty, [&](const std::string& list) { return readersOf(m_graph, list) > 0; });
        Nodes old;
        old.Swap(m_graph.mutable_node());
        for (onnx::NodeProto& node : old) {
            if (node.op_type() == "SequenceEmpty" && node.output_size() == 1 &&
                m_empty.contains(node.output(0)))
                continue;
            if (isJoin(node) && m_lists.contains(node.input(0)))
                join(node);
            else
                *m_graph.add_node() = std::move(node);
        }
        return changed;
    }

  private:
    /// Returns the node that appends to the list in the body's input `k`; null if the body uses this list in
    /// any other way.
    const onnx::NodeProto* appender(const onnx::GraphProto& body, int k) const {
        const std::string &list = body.input(k).name(), &longer = body.output(k - 1).name();
        const onnx::NodeProto* insert = producerOf(body.node(), longer);
        const bool appends = insert != nullptr && insert->op_type() == "SequenceInsert" &&
                             insert->input_size() >= 2 && insert->input(0) == list &&
                             (insert->input_size() == 2 || insert->input(2).empty());
        return appends && readersOf(body, list) == 1 && readersOf(body, longer) == 1 ? insert : nullptr;
    }

    /// Whether the list is only joined, and all its tensors, like `value` in the body, have the same shape: a
    /// new axis requires that; otherwise it must be seen that they have the same extent along the axis.
    bool isJoined(const std::string& list, const onnx::GraphProto& body, const std::string& value) const {
        std::size_t joins = 0;
        for (const onnx::NodeProto& node : m_graph.node()) {
            const std::int64_t axis = integerOf(node, "axis");
            joins += isJoin(node) && node.input(0) == list && axis >= 0 &&
                     (integerOf(node, "new_axis") != 0 || fixedExtent({&body, &m_graph}, value, axis));
        }
        return joins > 0 && joins == readersOf(m_graph, list);
    }

    std::size_t changeLoop(onnx::NodeProto& loop, onnx::GraphProto& body) {
        std::size_t changed = 0;
        for (int k = loop.input_size() - 1; k >= 2; --k) {
            if (body.input_size() != loop.input_size() || body.output_size() < k ||
                loop.output_size() < k - 1)
                continue;
            const onnx::NodeProto* empty = producerOf(m_graph.node(), loop.input(k));
            const std::string out = loop.output(k - 2);
            const onnx::NodeProto* insert = appender(body, k);
            if (empty == nullptr || empty->op_type() != "SequenceEmpty" || insert == nullptr ||
                !isJoined(out, body, insert->input(1)))
                continue;
            // An Identity, because the value may be a carried one, too.
            const std::string value = unused(out + "/value");
            onnx::NodeProto& copy = *body.add_node();
            copy.set_op_type("Identity");
            copy.set_name(value);
            copy.add_input(insert->input(1));
            copy.add_output(value);
            body.add_output()->set_name(value);
            body.mutable_output()->DeleteSubrange(k - 1, 1);
            body.mutable_input()->DeleteSubrange(k, 1);
            loop.mutable_input()->DeleteSubrange(k, 1);
            // Scan outputs come after the carried values.
            while (loop.output_size() < body.output_size() - 1) loop.add_output("");
            loop.mutable_output()->DeleteSubrange(k - 2, 1);
            loop.add_output(out);
            removeAppender(body);
            m_lists.insert(out);
            m_empty.insert(empty->output(0));
            ++changed;
        }
        return changed;
    }

    /// Removes SequenceInsert nodes that nobody reads.
    static void removeAppender(onnx::GraphProto& body) {
        for (int n = body.node_size(); n-- > 0;)
            if (body.node(n).op_type() == "SequenceInsert" && readersOf(body, body.node(n).output(0)) == 0)
                body.mutable_node()->DeleteSubrange(n, 1);
    }

    /// Adds the nodes that replace a ConcatFromSequence.
    void join(const onnx::NodeProto& node) {
        const std::int64_t axis = integerOf(node, "axis");
        const bool newAxis = integerOf(node, "new_axis") != 0;
        m_prefix = node.name().empty() ? node.output(0) : node.name();
        const std::string& stacked = node.input(0);
        if (axis == 0 && newAxis) {
            add("Identity", {stacked}, node.output(0));
            return;
        }
        const std::int64_t end = std::numeric_limits<std::int64_t>::max();
        const std::string shape = add("Shape", {stacked});
        const std::string count = part(shape, 0, 1), before = part(shape, 1, 1 + axis),
                          after = part(shape, 1 + axis, end);
        std::string arranged = stacked;
        if (axis > 0) {
            const std::string product = add("ReduceProd", {before});
            const std::string flat = add("Concat", {count, product, numbers({-1})}, {}, {{"axis", {0}}});
            const std::string rows = add("Reshape", {stacked, flat});
            arranged = add("Transpose", {rows}, {}, {{"perm", {1, 0, 2}}});
        }
        const std::vector<std::string> dims =
            newAxis ? std::vector{before, count, after}
                    : std::vector{before, numbers({-1}), part(shape, 2 + axis, end)};
        const std::string wanted = add("Concat", dims, {}, {{"axis", {0}}});
        add("Reshape", {arranged, wanted}, node.output(0));
    }

    std::string part(const std::string& shape, std::int64_t from, std::int64_t to) {
        return add("Slice", {shape, numbers({from}), numbers({to})});
    }

    std::string numbers(const std::vector<std::int64_t>& values) {
        onnx::TensorProto& tensor = *m_graph.add_initializer();
        tensor.set_name(unused(m_prefix + "/constant"));
        tensor.set_data_type(onnx::TensorProto::INT64);
        tensor.add_dims(static_cast<std::int64_t>(values.size()));
        for (const std::int64_t value : values) tensor.add_int64_data(value);
        return tensor.name();
    }

    std::string add(const std::string& op, const std::vector<std::string>& inputs, std::string output = {},
                    const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& attributes = {}) {
        if (output.empty()) output = unused(m_prefix + "/" + op);
        onnx::NodeProto& node = *m_graph.add_node();
        node.set_op_type(op);
        node.set_name(output);
        for (const std::string& input : inputs) node.add_input(input);
        node.add_output(output);
        for (const auto& [name, values] : attributes) {
            onnx::AttributeProto& attribute = *node.add_attribute();
            attribute.set_name(name);
            if (name == "axis") {
                attribute.set_type(onnx::AttributeProto::INT);
                attribute.set_i(values[0]);
            } else {
                attribute.set_type(onnx::AttributeProto::INTS);
                for (const std::int64_t value : values) attribute.add_ints(value);
            }
        }
        return output;
    }

    std::string unused(const std::string& name) {
        std::string candidate = name;
        for (int n = 1; !m_names.insert(candidate).second; ++n) candidate = fmt::format("{}_{}", name, n);
        return candidate;
    }

    onnx::GraphProto& m_graph;
    std::set<std::string> m_names, m_lists;
    std::set<std::string> m_empty;  ///< the lists before the first iteration
    std::string m_prefix;           ///< of the names of added nodes
};

std::string unsqueezed(onnx::GraphProto& graph, const std::string& tensor, std::int64_t axis,
                       const std::string& reader, std::int64_t opset, std::set<std::string>& names) {
    std::string name = fmt::format("{}/{}", reader, tensor);
    while (!names.insert(name).second) name += "_";
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("Unsqueeze");
    node.set_name(name);
    node.add_input(tensor);
    node.add_output(name);
    if (opset >= 13) {
        onnx::TensorProto& axes = *graph.add_initializer();
        axes.set_name(name + "/axes");
        axes.set_data_type(onnx::TensorProto::INT64);
        axes.add_dims(1);
        axes.add_int64_data(axis);
        node.add_input(axes.name());
    } else {
        onnx::AttributeProto& axes = *node.add_attribute();
        axes.set_name("axes");
        axes.set_type(onnx::AttributeProto::INTS);
        axes.add_ints(axis);
    }
    return name;
}

}  // namespace

void becomeConcat(onnx::GraphProto& graph, int position, const std::vector<std::string>& tensors,
                  std::int64_t opset, std::set<std::string>& names) {
    onnx::NodeProto node = graph.node(position);
    const std::int64_t axis = integerOf(node, "axis");
    const bool newAxis = integerOf(node, "new_axis") != 0;
    for (int a = node.attribute_size(); a-- > 0;)
        if (node.attribute(a).name() == "new_axis") node.mutable_attribute()->DeleteSubrange(a, 1);
    node.set_op_type("Concat");
    node.clear_input();
    for (const std::string& tensor : tensors)
        node.add_input(newAxis ? unsqueezed(graph, tensor, axis, node.output(0), opset, names) : tensor);
    *graph.mutable_node(position) = std::move(node);
}

std::size_t appendedListsBecomeScanOutputs(onnx::GraphProto& graph) { return ListLoops(graph).run(); }

}  // namespace quantloupe
