// SPDX-License-Identifier: Apache-2.0
#include "model/raise_opset.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/is_one_of.h"

namespace quantloupe {
namespace {

constexpr std::int64_t kOldest = 7;

constexpr std::array kAxesInput13 = {"Squeeze", "Unsqueeze", "ReduceSum"};
constexpr std::array kAxesInput18 = {"ReduceMax",    "ReduceMean",      "ReduceMin",
                                     "ReduceProd",   "ReduceL1",        "ReduceL2",
                                     "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};
constexpr std::array kFlattening = {"Softmax", "LogSoftmax", "Hardmax"};

class OpsetRaiser {
  public:
    OpsetRaiser(GraphBuilder& builder, const Graph& graph, std::int64_t to)
        : m_builder(builder),
          m_graph(graph),
          m_from(graph.opset()),
          m_to(m_from < 10 ? std::max<std::int64_t>(to, 11) : to) {}

    void raise() {
        if (m_from < kOldest)
            fail(ErrorKind::Unsupported,
                 "from below opset {} it cannot be raised; export the model again with opset {} or later",
                 kOldest, m_to);
        for (std::size_t n = 0; n < m_graph.nodeCount(); ++n)
            if (m_graph.nodes()[n].domain.empty()) {
                Node node = m_builder.node(NodeId(n));  // a copy, because raising may add nodes
                raiseNode(node, m_graph);
                m_builder.node(NodeId(n)) = std::move(node);
                checkBodies(m_graph.nodes()[n], m_graph.nodes()[n]);
            }
        m_builder.facts().opsets[""] = m_to;
        std::int64_t& ir = m_builder.facts().irVersion;
        ir = std::max<std::int64_t>(ir, m_to >= 21 ? 10 : 7);
    }

  private:
    bool crosses(std::int64_t opset) const { return m_from < opset && m_to >= opset; }

    void raiseNode(Node& node, const Graph& graph) {
        if (m_from < 11) raiseToInputs(node, graph);
        if (crosses(12) && node.op == "Dropout") node.attributes.erase("ratio");  // without effect
        if (crosses(13) && isOneOf(node.op, kAxesInput13)) toInput(node, "axes");
        if (crosses(13) && node.op == "Split") toInput(node, "split");
        if (crosses(13) && isOneOf(node.op, kFlattening)) raiseSoftmax(node, graph);
        if (crosses(14) && node.op == "BatchNormalization") dropOutputs(node, graph, 1);
        if (crosses(16) && node.op == "RoiAlign" && !node.attributes.has("coordinate_transformation_mode"))
            node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
        if (crosses(18) && isOneOf(node.op, kAxesInput18)) toInput(node, "axes");
        if (crosses(18) && node.op == "Split" && !node.input(1).valid())
            node.attributes.set("num_outputs", static_cast<std::int64_t>(node.outputs.size()));
        if (crosses(20) && node.op == "GridSample") renameMode(node);
        if (crosses(20) && node.op == "DFT") raiseDft(node, graph);
        if (crosses(21) && node.op == "GroupNormalization") refuse(node);
    }

    /// Opsets 9 to 11, in which attributes of several operators became inputs.
    void raiseToInputs(Node& node, const Graph& graph) {
        if (crosses(9) && node.op == "Scan") refuse(node);
        if (crosses(9) && node.op == "BatchNormalization") {
            if (node.attributes.integer("spatial", 1) != 1) refuse(node);
            node.attributes.erase("spatial");
        }
        if (crosses(10) && node.op == "Dropout") dropOutputs(node, graph, 1);  // the mask had another type
        if (crosses(10) && node.op == "TopK") toInput(node, "k");
        if (crosses(10) && node.op == "Slice") {
            toInput(node, "starts", 1);
            toInput(node, "ends", 2);
            toInput(node, "axes", 3);
        }
        if (!crosses(11)) return;
        if (node.op == "Pad") {
            toInput(node, "pads", 1);
            toInput(node, "value", 2);
        }
        if (node.op == "Clip") {
            toInput(node, "min", 1);
            toInput(node, "max", 2);
        }
        if (node.op == "Scatter") node.op = "ScatterElements";
        if (node.op == "Upsample" || node.op == "Resize") raiseResize(node, graph);
    }

    /// Before opset 11, nearest neighbors were rounded down when enlarging and up when shrinking.
    void raiseResize(Node& node, const Graph& graph) {
        const Constant* const given = graph.constantOf(node.input(1));
        std::vector<double> scales = given != nullptr ? given->toDoubles() : std::vector<double>();
        if (node.op == "Upsample" && node.attributes.has("scales")) {
            const std::vector<float> listed = node.attributes.reals("scales");
            scales.assign(listed.begin(), listed.end());
            toInput(node, "scales", 1);
        }
        const bool shrinks = std::ranges::any_of(scales, [](double scale) { return scale < 1; });
        const bool enlarges = scales.empty() || std::ranges::any_of(scales, [](double s) { return s > 1; });
        if (node.attributes.text("mode", "nearest") == "nearest") {
            if ((shrinks && enlarges) || (scales.empty() && node.op == "Resize")) refuse(node);
            node.attributes.set("nearest_mode", std::string(shrinks ? "ceil" : "floor"));
        }
        node.op = "Resize";
        node.attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
        // Before opset 13, the region of interest cannot be omitted.
        const std::string roi =
            m_builder.unusedTensorName((node.name.empty() ? node.op : node.name) + "_roi");
        node.inputs = {node.input(0), m_builder.addConstant(roi, Constant::fromFloats({0}, {})),
                       node.input(1)};
    }

    /// Removes outputs from `first` on, which must not be used.
    void dropOutputs(Node& node, const Graph& graph, std::size_t first) {
        for (std::size_t i = first; i < node.outputs.size(); ++i)
            if (node.outputs[i].valid() &&
                (!graph.tensor(node.outputs[i]).consumers.empty() ||
                 std::ranges::find(graph.outputs(), node.outputs[i]) != graph.outputs().end()))
                refuse(node);
        node.outputs.resize(std::min(node.outputs.size(), first));
    }

    /// Bodies of If, Loop and Scan are saved as they are, so none of their nodes may change.
    void checkBodies(const Node& node, const Node& owner) {
        for (const auto& [name, value] : node.attributes) {
            const auto* body = std::get_if<OpaqueAttribute>(&value);
            if (body == nullptr || !body->graph) continue;
            for (const Node& inner : body->graph->nodes()) {
                Node raised = inner;
                if (inner.domain.empty()) raiseNode(raised, *body->graph);
                if (raised.op != inner.op || !std::ranges::equal(raised.attributes, inner.attributes))
                    fail(
                        ErrorKind::Unsupported,
                        "the body of the {} '{}' contains a {}, which means something else there; export the "
                        "model again with opset {} or later",
                        owner.op, owner.name, inner.op, m_to);
                checkBodies(inner, owner);
            }
        }
    }

    [[noreturn]] void refuse(const Node& node) const {
        fail(ErrorKind::Unsupported,
             "the {} '{}' means something else there; export the model again with opset {} or later", node.op,
             node.name, m_to);
    }

    /// The axis became an input, with another default.
    void raiseDft(Node& node, const Graph& graph) {
        if (&graph != &m_graph) refuse(node);  // in a body
        ConstantPtr axis = Constant::fromInt64s({}, {node.attributes.integer("axis", 1)});
        node.attributes.erase("axis");
        node.inputs.resize(3);
        const std::string name = (node.name.empty() ? node.op : node.name) + "_axis";
        node.inputs[2] = m_builder.addConstant(m_builder.unusedTensorName(name), std::move(axis));
    }

    static void renameMode(Node& node) {
        const std::string mode = node.attributes.text("mode", "");
        if (mode == "bilinear") node.attributes.set("mode", std::string("linear"));
        if (mode == "bicubic") node.attributes.set("mode", std::string("cubic"));
    }

    /// Makes an attribute input `position`: one integer (as a list), one float (as a scalar), or a list.
    void toInput(Node& node, const char* key, std::size_t position = 1) {
        const auto found =
            std::ranges::find(node.attributes, key, [](const auto& each) { return each.first; });
        if (found == node.attributes.end()) return;
        ConstantPtr value;
        const auto extent = [](const auto& list) { return Dims{static_cast<std::int64_t>(list.size())}; };
        if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&found->second))
            value = Constant::fromInt64s(extent(*integers), *integers);
        else if (const auto* integer = std::get_if<std::int64_t>(&found->second))
            value = Constant::fromInt64s({1}, {*integer});
        else if (const auto* reals = std::get_if<std::vector<float>>(&found->second))
            value = Constant::fromFloats(extent(*reals), *reals);
        else if (const auto* real = std::get_if<float>(&found->second))
            value = Constant::fromFloats({}, {*real});
        else
            refuse(node);
        node.attributes.erase(key);
        if (node.inputs.size() <= position) node.inputs.resize(position + 1);
        const std::string name = (node.name.empty() ? node.op : node.name) + "_" + key;
        node.inputs[position] = m_builder.addConstant(m_builder.unusedTensorName(name), std::move(value));
    }

    /// Before opset 13 all axes from `axis` on (default 1) formed one row; since then `axis` alone does
    /// (default: the last axis). If it is not known to be the last, the input is flattened.
    void raiseSoftmax(Node& node, const Graph& graph) {
        const std::int64_t axis = node.attributes.integer("axis", 1);
        const auto& shape = graph.tensor(node.input(0)).shape;
        const bool last = axis == -1 || (shape && axis == static_cast<std::int64_t>(shape->size()) - 1);
        node.attributes.set("axis", last ? axis : -1);
        if (last) return;
        if (&graph != &m_graph) refuse(node);  // in a body
        const TensorId input = node.input(0), output = node.output();
        const std::string stem = node.name.empty() ? node.op : node.name;
        const auto tensor = [&](const char* suffix) {
            return m_builder.tensor(m_builder.unusedTensorName(stem + suffix));
        };
        const auto add = [&](const char* op, const char* suffix, std::vector<TensorId> inputs,
                             TensorId made) {
            Node added;
            added.name = m_builder.unusedNodeName(stem + suffix);
            added.op = op;
            added.inputs = std::move(inputs);
            added.outputs = {made};
            if (added.op == "Flatten") added.attributes.set("axis", axis);
            m_builder.addNode(std::move(added));
        };
        const TensorId size = tensor("_shape"), rows = tensor("_rows"), result = tensor("_result");
        node.inputs[0] = rows;
        node.outputs[0] = result;
        add("Shape", "_Shape", {input}, size);
        add("Flatten", "_Flatten", {input}, rows);
        add("Reshape", "_Reshape", {result, size}, output);
    }

    GraphBuilder& m_builder;
    const Graph& m_graph;
    std::int64_t m_from, m_to;
};

}  // namespace

void raiseOpset(GraphBuilder& builder, const Graph& graph, std::int64_t opset) {
    OpsetRaiser(builder, graph, opset).raise();
}

}  // namespace quantloupe
