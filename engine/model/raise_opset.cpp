// SPDX-License-Identifier: Apache-2.0
#include "model/raise_opset.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/is_one_of.h"

namespace quantloupe {
namespace {

constexpr std::int64_t kOldest = 11;

constexpr std::array kAxesInput13 = {"Squeeze", "Unsqueeze", "ReduceSum"};
constexpr std::array kAxesInput18 = {"ReduceMax",    "ReduceMean",      "ReduceMin",
                                     "ReduceProd",   "ReduceL1",        "ReduceL2",
                                     "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};
constexpr std::array kFlattening = {"Softmax", "LogSoftmax", "Hardmax"};

class OpsetRaiser {
  public:
    OpsetRaiser(GraphBuilder& builder, const Graph& graph, std::int64_t to)
        : m_builder(builder), m_graph(graph), m_from(graph.opset()), m_to(to) {}

    void raise() {
        if (m_from < kOldest)
            fail(ErrorKind::Unsupported,
                 "from below opset {} it cannot be raised; export the model again with opset {} or later",
                 kOldest, m_to);
        for (std::size_t n = 0; n < m_graph.nodeCount(); ++n)
            if (m_graph.nodes()[n].domain.empty()) {
                raiseNode(m_builder.node(NodeId(n)), m_graph);
                checkBodies(m_graph.nodes()[n], m_graph.nodes()[n]);
            }
        m_builder.facts().opsets[""] = m_to;
        std::int64_t& ir = m_builder.facts().irVersion;
        ir = std::max<std::int64_t>(ir, m_to >= 21 ? 10 : 7);
    }

  private:
    bool crosses(std::int64_t opset) const { return m_from < opset && m_to >= opset; }

    void raiseNode(Node& node, const Graph& graph) {
        if (crosses(12) && node.op == "Dropout") node.attributes.erase("ratio");  // without effect
        if (crosses(13) && isOneOf(node.op, kAxesInput13)) toInput(node, "axes");
        if (crosses(13) && node.op == "Split") toInput(node, "split");
        if (crosses(13) && isOneOf(node.op, kFlattening)) checkSoftmax(node, graph);
        if (crosses(16) && node.op == "RoiAlign" && !node.attributes.has("coordinate_transformation_mode"))
            node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
        if (crosses(18) && isOneOf(node.op, kAxesInput18)) toInput(node, "axes");
        if (crosses(18) && node.op == "Split" && !node.input(1).valid())
            node.attributes.set("num_outputs", static_cast<std::int64_t>(node.outputs.size()));
        if (crosses(20) && node.op == "GridSample") renameMode(node);
        if (crosses(21) && node.op == "GroupNormalization") refuse(node);
    }

    /// Bodies of If, Loop and Scan are saved as they are, so none of their nodes may change.
    void checkBodies(const Node& node, const Node& owner) {
        for (const auto& [name, value] : node.attributes) {
            const auto* body = std::get_if<OpaqueAttribute>(&value);
            if (body == nullptr || !body->graph) continue;
            for (const Node& inner : body->graph->nodes()) {
                Node raised = inner;
                if (inner.domain.empty()) raiseNode(raised, *body->graph);
                if (!std::ranges::equal(raised.attributes, inner.attributes))
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

    static void renameMode(Node& node) {
        const std::string mode = node.attributes.text("mode", "");
        if (mode == "bilinear") node.attributes.set("mode", std::string("linear"));
        if (mode == "bicubic") node.attributes.set("mode", std::string("cubic"));
    }

    void toInput(Node& node, const char* key) {
        if (!node.attributes.has(key)) return;
        const std::vector<std::int64_t> values = node.attributes.integers(key);
        node.attributes.erase(key);
        const Dims dims{static_cast<std::int64_t>(values.size())};
        const std::string constant = (node.name.empty() ? node.op : node.name) + "_" + key;
        if (node.inputs.size() < 2) node.inputs.resize(2);
        node.inputs[1] =
            m_builder.addConstant(m_builder.unusedTensorName(constant), Constant::fromInt64s(dims, values));
    }

    /// Before opset 13 all axes from `axis` on (default 1) formed one row; since then `axis` alone does
    /// (default: the last axis).
    void checkSoftmax(Node& node, const Graph& graph) {
        const std::int64_t axis = node.attributes.integer("axis", 1);
        const auto& shape = graph.tensor(node.input(0)).shape;
        const bool last = axis == -1 || (shape && axis == static_cast<std::int64_t>(shape->size()) - 1);
        if (!last) refuse(node);
        node.attributes.set("axis", axis);
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
