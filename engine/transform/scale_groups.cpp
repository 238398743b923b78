// SPDX-License-Identifier: Apache-2.0
// Finds the junctions of Quantloupe's own profile.
//
// If channel c of every layer that produces a tensor is divided by f[c] and channel c of every layer that
// reads it is multiplied by f[c], the function does not change. Tensors on both sides of an operator that a
// factor passes (pass_through.h), and all operands and the sum of an Add, share one vector of factors: they
// are a group. Terms: heads and tails: the layers that produce and that read the group's tensors; shift: a
// constant added to one. A group is a junction if no other node produces or reads its tensors and none is a
// graph input or output. Source: PPQ's multi-branch equalization, extended to any kind of sharing. Cost:
// O(nodes) with union-find. Limitation: Concat, Split and transposed channels end a group, as does an Add
// of tensors with different or unknown ranks.
#include "transform/scale_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/disjoint_sets.h"
#include "model/operator_traits.h"
#include "transform/pass_through.h"
#include "transform/scalable_layer.h"
#include "transform/weight_channels.h"

namespace quantloupe {
namespace {

class GroupFinder {
  public:
    GroupFinder(const Graph& graph, const std::vector<bool>& excluded)
        : m_graph(graph),
          m_excluded(excluded),
          m_sets(graph.tensorCount()),
          m_blocked(graph.tensorCount()),
          m_axis(graph.tensorCount(), -1),
          m_plain(graph.tensorCount(), true),
          m_activation(graph.tensorCount(), false) {}

    ScaleGroups find() {
        for (std::size_t i = 0; i < m_graph.nodeCount(); ++i) visit(NodeId(i));
        for (const TensorId id : m_graph.inputs())
            block(id, fmt::format("'{}' is a graph input", nameOf(id)));
        for (const TensorId id : m_graph.outputs())
            block(id, fmt::format("'{}' is a graph output", nameOf(id)));
        return collect();
    }

  private:
    const std::string& nameOf(TensorId id) const { return m_graph.tensor(id).name; }

    std::size_t root(TensorId id) { return m_sets.find(id.index()); }

    void block(TensorId id, const std::string& reason) {
        if (!id.valid()) return;
        std::string& known = m_blocked[root(id)];
        if (known.empty()) known = reason;
    }

    void unite(TensorId a, TensorId b) {
        const std::size_t first = root(a), second = root(b);
        if (first == second) return;
        if (m_blocked[first].empty()) m_blocked[first] = m_blocked[second];
        if (m_axis[first] == -1) m_axis[first] = m_axis[second];
        if (m_axis[second] != -1 && m_axis[first] != m_axis[second])
            block(a,
                  fmt::format("'{}' and '{}' have their channels on different axes", nameOf(a), nameOf(b)));
        m_plain[first] = m_plain[first] && m_plain[second];
        m_activation[first] = m_activation[first] || m_activation[second];
        m_sets.attach(second, first);
    }

    void setAxis(TensorId id, std::int64_t axis) {
        std::int64_t& known = m_axis[root(id)];
        if (known != -1 && known != axis)
            block(id,
                  fmt::format("'{}' has its channels on axis {} and on axis {}", nameOf(id), known, axis));
        known = axis;
    }

    /// Returns why the layer cannot be equalized; empty if it can or is not a layer with weights.
    std::string whyNoLayer(NodeId id) const {
        const Node& node = m_graph.node(id);
        if (!m_excluded.empty() && m_excluded[id.index()])
            return fmt::format("'{}' stays in float", node.name);
        if (!isFloatConstant(m_graph, node.input(1)) || !layoutOf(m_graph, id))
            return fmt::format("the weight of '{}' is not a float32 constant of the usual shape", node.name);
        if (node.input(2).valid()) {
            if (!isFloatConstant(m_graph, node.input(2)))
                return fmt::format("the bias of '{}' is not a float32 constant", node.name);
            if (!isPerChannel(*m_graph.constantOf(node.input(2)), outputCount(*layoutOf(m_graph, id))))
                return fmt::format("the bias of '{}' does not have one value per channel", node.name);
        }
        if (node.attributes.integer("transA", 0) != 0)
            return fmt::format("'{}' transposes its input", node.name);
        if (const TensorId shared = sharedConstant(m_graph, id); shared.valid())
            return fmt::format("'{}' of '{}' is read by other layers, too", nameOf(shared), node.name);
        if (!readsAsData(node, node.input(0))) return fmt::format("'{}' reads its input twice", node.name);
        return {};
    }

    /// Returns the channel axis; -1 if it is unknown.
    std::int64_t channelAxis(const Node& node, TensorId tensor) const {
        if (!isOp(node, "MatMul")) return 1;
        const auto& shape = m_graph.tensor(tensor).shape;
        return shape && shape->size() >= 2 ? static_cast<std::int64_t>(shape->size()) - 1 : -1;
    }

    void visit(NodeId id) {
        const Node& node = m_graph.node(id);
        if (readsOnlyShape(node)) return;
        if (multipliesWeight(node) &&
            (!isOp(node, "MatMul") || m_graph.constantOf(node.input(1)) != nullptr)) {
            layer(id);
            return;
        }
        if (isOp(node, "Add") || isOp(node, "Sub")) {
            sum(id);
            return;
        }
        if (product(node)) return;
        if (flattensPositions(node)) {
            unite(node.input(0), node.output());
            setAxis(node.output(), 1);
            return;
        }
        const std::string reason = whyScaleStops(m_graph, node);
        if (!reason.empty()) {
            blockAll(node, fmt::format("'{}' {}", node.name, reason));
            m_stops.push_back(id);
            return;
        }
        unite(node.input(0), node.output());
        if (isClipping(node) || traitsOf(node).kind == OperatorKind::Slope) {
            m_activation[root(node.output())] = true;
        } else if (!isOp(node, "Identity") && !isOp(node, "Dropout")) {
            setAxis(node.output(), 1);
            m_plain[root(node.output())] = false;
        }
    }

    void blockAll(const Node& node, const std::string& reason) {
        for (const TensorId input : node.inputs)
            if (input.valid() && m_graph.constantOf(input) == nullptr) block(input, reason);
        for (const TensorId output : node.outputs) block(output, reason);
    }

    void layer(NodeId id) {
        const Node& node = m_graph.node(id);
        std::string reason = whyNoLayer(id);
        const std::int64_t in = channelAxis(node, node.input(0)), out = channelAxis(node, node.output());
        if (reason.empty() && (in < 0 || out < 0))
            reason = fmt::format("the rank of the input of '{}' is unknown", node.name);
        if (!reason.empty()) {
            blockAll(node, reason);
        } else {
            setAxis(node.input(0), in);
            setAxis(node.output(), out);
        }
        m_layers.push_back(id);
    }

    /// Whether the constant operand adds no dimensions, which would shift the channel axis.
    bool keepsRank(const Node& node, std::size_t data) const {
        const std::size_t rank = m_graph.constantOf(node.input(1 - data))->dims().size();
        const auto& shape = m_graph.tensor(node.input(data)).shape;
        return rank <= 1 || (shape && shape->size() >= rank);
    }

    void sum(NodeId id) {
        const Node& node = m_graph.node(id);
        for (const std::size_t data : {std::size_t(0), std::size_t(1)})
            if (m_graph.constantOf(node.input(1 - data)) != nullptr &&
                m_graph.constantOf(node.input(data)) == nullptr && keepsRank(node, data)) {
                unite(node.input(data), node.output());
                m_shifts.emplace_back(id, 1 - data);
                m_plain[root(node.output())] = false;
                return;
            }
        const auto& a = m_graph.tensor(node.input(0)).shape;
        const auto& b = m_graph.tensor(node.input(1)).shape;
        // Positions and samples may be broadcast. Channels are not, because checked() compares the layers.
        if (!a || !b || a->size() != b->size()) {
            blockAll(node, fmt::format("the ranks of the operands of '{}' differ or are unknown", node.name));
            return;
        }
        unite(node.input(0), node.output());
        unite(node.input(1), node.output());
        m_plain[root(node.output())] = false;
    }

    /// Unites the sides of a product with, or a quotient by, a constant of any sign; false for other nodes.
    bool product(const Node& node) {
        if (!isOp(node, "Mul") && !isOp(node, "Div")) return false;
        for (const std::size_t data : {std::size_t(0), std::size_t(1)})
            if (m_graph.constantOf(node.input(1 - data)) != nullptr &&
                m_graph.constantOf(node.input(data)) == nullptr && keepsRank(node, data) &&
                (data == 0 || isOp(node, "Mul"))) {
                unite(node.input(data), node.output());
                m_plain[root(node.output())] = false;
                return true;
            }
        return false;
    }

    /// Returns whether the node reshapes [N, C, 1, 1] to [N, C].
    bool flattensPositions(const Node& node) const {
        if (!isOp(node, "Flatten") && !isOp(node, "Reshape") && !isOp(node, "Squeeze")) return false;
        const auto& from = m_graph.tensor(node.input(0)).shape;
        const auto& to = m_graph.tensor(node.output()).shape;
        if (!from || !to || from->size() < 2 || to->size() != 2) return false;
        if (!(*from)[1].known() || (*from)[1] != (*to)[1]) return false;
        return std::all_of(from->begin() + 2, from->end(), [](const Dim& d) { return d.value == 1; });
    }

    /// Returns whether the constant has one value per channel of the group's tensors.
    bool shiftFits(NodeId id, std::size_t input, std::size_t channels, std::int64_t axis) const {
        const Node& node = m_graph.node(id);
        const TensorId tensor = node.input(input);
        const auto& shape = m_graph.tensor(node.output()).shape;
        if (!isFloatConstant(m_graph, tensor) || m_graph.onlyConsumer(tensor) != id || !shape) return false;
        const Dims& dims = m_graph.constantOf(tensor)->dims();
        if (static_cast<std::size_t>(m_graph.constantOf(tensor)->size()) != channels ||
            dims.size() > shape->size())
            return false;
        const std::size_t missing = shape->size() - dims.size();
        const auto at = static_cast<std::size_t>(axis);
        return at >= missing && static_cast<std::size_t>(dims[at - missing]) == channels;
    }

    ScaleGroups collect() {
        std::map<std::size_t, ScaleGroup> groups;
        for (const NodeId id : m_layers) {
            groups[root(m_graph.node(id).output())].heads.push_back(id);
            groups[root(m_graph.node(id).input(0))].tails.push_back(id);
        }
        for (const auto& shift : m_shifts) {
            const auto group = groups.find(root(m_graph.node(shift.first).output()));
            if (group != groups.end()) group->second.shifts.push_back(shift);
        }
        for (std::size_t t = 0; t < m_graph.tensorCount(); ++t)
            if (const auto group = groups.find(root(TensorId(t))); group != groups.end())
                group->second.tensors.push_back(TensorId(t));
        std::vector<std::pair<NodeId, ScaleGroup>> ordered;
        ScaleGroups result;
        for (auto& [at, group] : groups) {
            if (group.heads.empty() || group.tails.empty()) continue;
            if (std::string reason = checked(at, group); !reason.empty()) {
                result.refusals.push_back(fmt::format("{} before {}: {}", namesOf(m_graph, group.heads),
                                                      namesOf(m_graph, group.tails), reason));
                continue;
            }
            group.activation = m_activation[at];
            const auto tail = layoutOf(m_graph, group.tails.front());
            group.plain = m_plain[at] && group.heads.size() == 1 && group.tails.size() == 1 &&
                          (tail->groups == 1 || tail->depthwise);
            ordered.emplace_back(group.heads.front(), std::move(group));
        }
        for (const NodeId id : m_stops) {
            const Node& node = m_graph.node(id);
            if (!node.input(0).valid() || !node.output().valid()) continue;
            const auto before = groups.find(root(node.input(0))), after = groups.find(root(node.output()));
            if (before == groups.end() || after == groups.end() || before->second.heads.empty() ||
                after->second.tails.empty())
                continue;
            result.refusals.push_back(
                fmt::format("{} before {}: '{}' {}", namesOf(m_graph, before->second.heads),
                            namesOf(m_graph, after->second.tails), node.name, whyScaleStops(m_graph, node)));
        }
        std::stable_sort(ordered.begin(), ordered.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (auto& [head, group] : ordered) result.groups.push_back(std::move(group));
        return result;
    }

    std::string checked(std::size_t at, ScaleGroup& group) const {
        if (!m_blocked[at].empty()) return m_blocked[at];
        group.channels = outputCount(*layoutOf(m_graph, group.heads.front()));
        for (const NodeId id : group.heads)
            if (outputCount(*layoutOf(m_graph, id)) != group.channels)
                return "their numbers of channels do not match";
        for (const NodeId id : group.tails)
            if (inputCount(*layoutOf(m_graph, id)) != group.channels)
                return "their numbers of channels do not match";
        for (const auto& [node, input] : group.shifts)
            if (!shiftFits(node, input, group.channels, m_axis[at]))
                return fmt::format(
                    "'{}' adds a constant that does not have one value per channel or has other readers",
                    m_graph.node(node).name);
        return {};
    }

    const Graph& m_graph;
    const std::vector<bool>& m_excluded;
    DisjointSets m_sets;
    // One entry per group, at the index of its root:
    std::vector<std::string> m_blocked;
    std::vector<std::int64_t> m_axis;
    std::vector<bool> m_plain, m_activation;
    std::vector<NodeId> m_layers, m_stops;  ///< m_stops: operators that a factor does not pass
    std::vector<std::pair<NodeId, std::size_t>> m_shifts;
};

}  // namespace

ScaleGroups findScaleGroups(const Graph& graph, const std::vector<bool>& excluded) {
    return GroupFinder(graph, excluded).find();
}

std::string whyNoGroups(const ScaleGroups& found) {
    constexpr std::size_t kMostListed = 3;
    if (found.refusals.empty())
        return "nothing can be equalized: no layer with constant weights follows another with only operators "
               "between them that a factor can pass";
    std::string text = "nothing can be equalized; reasons:";
    for (std::size_t i = 0; i < std::min(kMostListed, found.refusals.size()); ++i)
        text += (i == 0 ? " " : "; ") + found.refusals[i];
    return text;
}

}  // namespace quantloupe
