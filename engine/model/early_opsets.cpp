// SPDX-License-Identifier: Apache-2.0
#include "model/early_opsets.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>
#include <vector>

#include "model/known_shapes.h"
#include "model/onnx_proto.h"

namespace quantloupe {
namespace {

bool alignsByAxis(const std::string& op) {
    static const std::set<std::string> ops{"Add", "And", "Div", "Equal", "Greater", "Less",
                                           "Mul", "Or",  "Pow", "Sub",   "Xor"};
    return ops.contains(op);
}

void eraseAttribute(onnx::NodeProto& node, const std::string& name) {
    auto& attributes = *node.mutable_attribute();
    const auto last = std::remove_if(attributes.begin(), attributes.end(),
                                     [&](const onnx::AttributeProto& a) { return a.name() == name; });
    attributes.DeleteSubrange(static_cast<int>(last - attributes.begin()),
                              static_cast<int>(attributes.end() - last));
}

void setAxis(onnx::NodeProto& node) {
    onnx::AttributeProto& axis = *node.add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(1);
}

/// Replaces the name of a type, such as "FLOAT", by its number.
void numberType(onnx::NodeProto& node) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        onnx::TensorProto::DataType type{};
        if (attribute.name() != "to" || !onnx::TensorProto::DataType_Parse(attribute.s(), &type)) continue;
        attribute.clear_s();
        attribute.set_type(onnx::AttributeProto::INT);
        attribute.set_i(type);
    }
}

void updateAttributes(onnx::GraphProto& graph, std::int64_t opset) {
    constexpr std::int64_t kConcatHasAxis = 4, kCastHasNumber = 6;  // from these opsets on
    for (onnx::NodeProto& node : *graph.mutable_node()) {
        for (auto& attribute : *node.mutable_attribute())
            if (attribute.has_g()) updateAttributes(*attribute.mutable_g(), opset);
        if (!isStandardDomain(node.domain())) continue;
        if (node.op_type() == "Concat" && opset < kConcatHasAxis && attributeOf(node, "axis") == nullptr)
            setAxis(node);
        if (node.op_type() == "Cast" && opset < kCastHasNumber) numberType(node);
    }
}

class Aligner {
  public:
    Aligner(onnx::GraphProto& graph, const KnownShapes* outer, std::set<std::string>& names)
        : m_graph(graph), m_shapes(graph, outer), m_names(names) {}

    void run() {
        std::vector<Missing> missing;  // first of all: m_shapes points to the nodes
        for (onnx::NodeProto& node : *m_graph.mutable_node()) {
            missing.push_back(missingDimensions(node));
            for (auto& attribute : *node.mutable_attribute())
                if (attribute.has_g()) Aligner(*attribute.mutable_g(), &m_shapes, m_names).run();
        }
        google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
        nodes.Swap(m_graph.mutable_node());
        for (int n = 0; n < nodes.size(); ++n) {
            if (missing[static_cast<std::size_t>(n)].count > 0)
                align(nodes[n], missing[static_cast<std::size_t>(n)]);
            m_graph.add_node()->Swap(&nodes[n]);
        }
    }

  private:
    /// The dimensions that a second operand needs at its end.
    struct Missing {
        std::int64_t count = 0, rank = 0;  ///< rank: the present number of dimensions
    };

    Missing missingDimensions(onnx::NodeProto& node) {
        const bool slope = node.op_type() == "PRelu";  // one for each channel
        if (!isStandardDomain(node.domain()) || node.input_size() != 2 ||
            (!slope && !alignsByAxis(node.op_type())))
            return {};
        std::int64_t axis = 1;
        bool aligned = slope;
        for (const auto& attribute : node.attribute())
            if (attribute.name() == "axis") {
                axis = attribute.i();
                aligned = true;
            }
        const auto whole = m_shapes.rank(node.input(0)), part = m_shapes.rank(node.input(1));
        if (!aligned || (slope && part && (*part != 1 || m_shapes.width(node.input(1)) == 1))) return {};
        if (!whole || !part) {
            if (slope) setAxis(node);  // so that it is not evaluated as if it were aligned
            return {};
        }
        const auto rank = static_cast<std::int64_t>(*whole), own = static_cast<std::int64_t>(*part);
        if (axis < 0) axis += rank;
        if (axis < 0 || axis > rank - own) return {};
        eraseAttribute(node, "axis");
        return {rank - own - axis, own};
    }

    void align(onnx::NodeProto& node, const Missing& missing) {
        const std::string from = node.input(1);
        std::string name = from + "/aligned";
        while (!m_names.insert(name).second) name += '_';
        node.set_input(1, name);
        for (const onnx::TensorProto& tensor : m_graph.initializer()) {
            if (tensor.name() != from) continue;
            onnx::TensorProto copy = tensor;
            copy.set_name(name);
            for (std::int64_t i = 0; i < missing.count; ++i) copy.add_dims(1);
            *m_graph.add_initializer() = std::move(copy);
            return;
        }
        onnx::NodeProto& unsqueeze = *m_graph.add_node();
        unsqueeze.set_op_type("Unsqueeze");
        unsqueeze.set_name(name);
        unsqueeze.add_input(from);
        unsqueeze.add_output(name);
        onnx::AttributeProto& axes = *unsqueeze.add_attribute();
        axes.set_name("axes");
        axes.set_type(onnx::AttributeProto::INTS);
        for (std::int64_t i = 0; i < missing.count; ++i) axes.add_ints(missing.rank + i);
    }

    onnx::GraphProto& m_graph;
    KnownShapes m_shapes;
    std::set<std::string>& m_names;
};

}  // namespace

void updateEarlyOpsets(onnx::ModelProto& model) {
    constexpr std::int64_t kAlwaysLastAxes = 7;  // from this opset on
    std::int64_t version = 1;
    for (const auto& opset : model.opset_import())
        if (isStandardDomain(opset.domain())) version = opset.version();
    if (version >= kAlwaysLastAxes) return;
    updateAttributes(*model.mutable_graph(), version);
    std::set<std::string> names;
    collectNames(model.graph(), names);
    Aligner(*model.mutable_graph(), nullptr, names).run();
}

}  // namespace quantloupe
