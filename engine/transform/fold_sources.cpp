// SPDX-License-Identifier: Apache-2.0
// Walks from a batch norm upstream through operators that only rearrange values, through a Concat into all of
// its branches, and through the Add that is the bias of a MatMul. Cost: O(nodes on the path).
#include "transform/fold_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/operator_traits.h"
#include "transform/channel_path.h"

namespace quantloupe {
namespace {

class SourceFinder {
  public:
    SourceFinder(const Graph& source, GraphBuilder& builder, const std::vector<NodeId>& producers)
        : m_source(source), m_builder(builder), m_producers(producers) {}

    FoldSources find(TensorId tensor, std::size_t axis, std::size_t channels) {
        walk(tensor, axis, 0, channels, {});
        std::set<NodeId> hosts;
        for (const FoldSource& found : m_result.sources)
            if (!hosts.insert(found.host).second) m_result.reason = "a layer contributes to it twice";
        if (!m_found || !m_result.reason.empty()) m_result.sources.clear();
        if (!m_found && m_joined.empty()) m_result.reason.clear();
        return std::move(m_result);
    }

  private:
    void refuse(std::string reason) {
        if (m_result.reason.empty()) m_result.reason = std::move(reason);
    }

    /// Ends the walk because this branch has no layer to fold into.
    void endWithoutLayer() {
        m_found = false;
        if (!m_joined.empty()) refuse(fmt::format("not all inputs of '{}' come from layers", m_joined));
    }

    void walk(TensorId tensor, std::size_t axis, std::size_t first, std::size_t count, FoldSource after) {
        if (!m_found) return;
        const NodeId producer = tensor.valid() ? m_producers[tensor.index()] : NodeId();
        if (!producer.valid()) return endWithoutLayer();
        const Node& node = m_builder.node(producer);
        const bool host = multipliesWeight(node), joins = isOp(node, "Concat"),
                   arranged = rearrangesValues(m_source, node);
        const bool adds = !after.shift.valid() && isBias(node, tensor, axis, count);
        if (!host && !joins && !arranged && !adds) return endWithoutLayer();
        const TensorInfo& info = m_source.tensor(tensor);
        if (info.graphOutput)
            refuse(fmt::format("the output of '{}' is also a graph output", node.name));
        else if (const std::size_t readers = readersOfValues(m_source, info); readers != 1)
            refuse(fmt::format("the output of '{}' has {} readers", node.name, readers));
        if (host) return land(producer, tensor, axis, first, count, std::move(after));
        if (adds) {
            const std::size_t input = m_builder.tensorInfo(node.input(0)).constant != nullptr ? 0 : 1;
            after.shift = producer;
            after.shiftInput = input;
            after.shiftValues = biasValues(*m_builder.tensorInfo(node.input(input)).constant, count);
            after.positionsAfter = info.shape->size() - axis - 1;
            after.planar = info.shape->size() == 2;
            return walk(node.input(1 - input), axis, first, count, std::move(after));
        }
        if (joins) return branches(node, axis, first, count, after);
        const auto before = axisBefore(m_source, node, axis);
        if (!before) return endWithoutLayer();  // no axis of the input corresponds to the channels
        walk(node.input(0), *before, first, count, std::move(after));
    }

    void branches(const Node& node, std::size_t axis, std::size_t first, std::size_t count,
                  const FoldSource& after) {
        m_joined = node.name;
        const auto& shape = m_source.tensor(node.output()).shape;
        if (after.shift.valid() || !shape) return endWithoutLayer();
        std::int64_t joined = node.attributes.integer("axis", 1);
        if (joined < 0) joined += static_cast<std::int64_t>(shape->size());
        std::size_t at = first;
        for (const TensorId input : node.inputs) {
            if (static_cast<std::size_t>(joined) != axis) {
                walk(input, axis, first, count, {});
                continue;
            }
            const auto& part = m_source.tensor(input).shape;
            if (!part || axis >= part->size() || !(*part)[axis].known()) return endWithoutLayer();
            const auto channels = static_cast<std::size_t>((*part)[axis].value);
            walk(input, axis, at, channels, {});
            at += channels;
        }
        if (static_cast<std::size_t>(joined) == axis && at != first + count)
            refuse(fmt::format("the channels of the inputs of '{}' do not add up", node.name));
    }

    void land(NodeId id, TensorId tensor, std::size_t axis, std::size_t first, std::size_t count,
              FoldSource found) {
        const Node& node = m_builder.node(id);
        const auto& shape = m_source.tensor(tensor).shape;
        found.product = isOp(node, "MatMul");
        if (found.product && (!shape || shape->empty()))
            return refuse(fmt::format("the rank of the output of '{}' is unknown", node.name));
        if (axis != (found.product ? shape->size() - 1 : 1)) {
            // The features of a MatMul are on the last axis; a batch norm over another axis is a different
            // function.
            return refuse(fmt::format("its channels are not those of '{}'", node.name));
        }
        // The Add follows a layer that cannot include it as its bias.
        if (!found.product && found.shift.valid()) return endWithoutLayer();
        found.host = id;
        found.first = first;
        found.count = count;
        if (!found.shift.valid()) found.planar = found.product && shape->size() == 2;
        m_result.sources.push_back(std::move(found));
    }

    /// Whether the node is an Add of a constant with one value per channel, or one for all.
    bool isBias(const Node& node, TensorId tensor, std::size_t axis, std::size_t count) const {
        if (!isOp(node, "Add") || node.inputs.size() != 2) return false;
        const auto& shape = m_source.tensor(tensor).shape;
        for (const std::size_t i : {std::size_t(0), std::size_t(1)}) {
            const TensorId operand = node.input(i);
            if (!operand.valid() || m_builder.tensorInfo(operand).constant == nullptr) continue;
            const Constant& constant = *m_builder.tensorInfo(operand).constant;
            const Dims& dims = constant.dims();
            if (constant.type() != DataType::Float32 || !shape || dims.size() > shape->size() ||
                axis >= shape->size())
                return false;
            if (constant.size() == 1) return true;
            const std::size_t missing = shape->size() - dims.size();
            return static_cast<std::size_t>(constant.size()) == count && axis >= missing &&
                   static_cast<std::size_t>(dims[axis - missing]) == count;
        }
        return false;
    }

    static std::vector<float> biasValues(const Constant& constant, std::size_t count) {
        if (constant.size() == 1) return std::vector<float>(count, constant.floats()[0]);
        return {constant.floats().begin(), constant.floats().end()};
    }

    const Graph& m_source;
    GraphBuilder& m_builder;
    const std::vector<NodeId>& m_producers;
    FoldSources m_result;
    bool m_found = true;
    std::string m_joined;  ///< the last Concat on the path
};

}  // namespace

FoldSources findFoldSources(const Graph& source, GraphBuilder& builder, const std::vector<NodeId>& producers,
                            TensorId tensor, std::size_t axis, std::size_t channels) {
    return SourceFinder(source, builder, producers).find(tensor, axis, channels);
}

HostAfter findHostAfter(const Graph& source, GraphBuilder& builder, TensorId tensor) {
    HostAfter found;
    found.read = tensor;
    found.host = found.first = onlyReader(source, builder, tensor);
    while (found.host.valid() && found.axis && found.positions == 1) {
        const Node& between = builder.node(found.host);
        if (!rearrangesValues(source, between) || between.input(0) != found.read) break;
        const auto same = axisAfter(source, between, *found.axis);
        const auto merged = same ? std::nullopt : positionsInLastAxis(source, between, *found.axis);
        found.axis = same;
        found.read = between.output();
        if (merged) {
            found.axis = source.tensor(found.read).shape->size() - 1;
            found.positions = *merged;
        }
        found.host = onlyReader(source, builder, found.read);
    }
    return found;
}

std::size_t readersOfValues(const Graph& source, const TensorInfo& tensor) {
    return static_cast<std::size_t>(std::ranges::count_if(
        tensor.consumers, [&](NodeId reader) { return !readsOnlyShape(source.node(reader)); }));
}

NodeId onlyReader(const Graph& source, GraphBuilder& builder, TensorId tensor) {
    NodeId reader;
    if (builder.tensorInfo(tensor).graphOutput) return reader;
    for (std::size_t i = 0; i < source.nodeCount(); ++i) {
        if (builder.removed(NodeId(i)) || readsOnlyShape(builder.node(NodeId(i))) ||
            std::ranges::find(builder.node(NodeId(i)).inputs, tensor) == builder.node(NodeId(i)).inputs.end())
            continue;
        if (reader.valid()) return {};
        reader = NodeId(i);
    }
    return reader;
}

}  // namespace quantloupe
