// SPDX-License-Identifier: Apache-2.0
// A reshape keeps the order of values, so an axis of extent C with I values after it corresponds to the
// output axis that also has extent C and I values after it. Cost: O(rank). Limitation: all extents from the
// channel axis on must be known; those before it may be unknown.
#include "transform/channel_path.h"

#include <algorithm>

#include "model/operator_traits.h"
#include "transform/pass_through.h"

namespace quantloupe {
namespace {

bool isTranspose(const Node& node) { return isOp(node, "Transpose"); }

/// The number of values after the axis; empty if an extent from the axis on is unknown.
std::optional<std::int64_t> valuesAfter(const Shape& shape, std::size_t axis) {
    if (axis >= shape.size() || !shape[axis].known()) return {};
    std::int64_t values = 1;
    for (std::size_t i = axis + 1; i < shape.size(); ++i) {
        if (!shape[i].known()) return {};
        values *= shape[i].value;
    }
    return values;
}

std::optional<std::size_t> sameAxis(const Shape& from, std::size_t axis, const Shape& to) {
    const auto inner = valuesAfter(from, axis);
    if (!inner) return {};
    for (std::size_t b = to.size(); b-- > 0;) {
        const auto here = valuesAfter(to, b);
        if (!here || *here > *inner) return {};
        if (*here == *inner && to[b].value == from[axis].value) return b;
    }
    return {};
}

std::vector<std::int64_t> permutation(const Node& node, std::size_t rank) {
    std::vector<std::int64_t> order = node.attributes.integers("perm");
    if (order.empty())
        for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    return order;
}

}  // namespace

bool rearrangesValues(const Graph& graph, const Node& node) {
    if (isIdentity(graph, node)) return node.input(0).valid() && node.output().valid();
    return node.domain.empty() && onlyRearranges(node.op) && node.input(0).valid() && node.output().valid() &&
           !node.output(1).valid();
}

std::optional<std::size_t> axisAfter(const Graph& graph, const Node& node, std::size_t axis) {
    if (isIdentity(graph, node)) return axis;
    const auto& from = graph.tensor(node.input(0)).shape;
    if (!from) return {};
    if (isTranspose(node)) {
        const auto order = permutation(node, from->size());
        const auto at = std::find(order.begin(), order.end(), static_cast<std::int64_t>(axis));
        if (at == order.end() || order.size() != from->size()) return {};
        return static_cast<std::size_t>(at - order.begin());
    }
    const auto& to = graph.tensor(node.output()).shape;
    return to ? sameAxis(*from, axis, *to) : std::nullopt;
}

std::optional<std::size_t> axisBefore(const Graph& graph, const Node& node, std::size_t axis) {
    if (isIdentity(graph, node)) return axis;
    const auto& from = graph.tensor(node.input(0)).shape;
    if (!from) return {};
    if (isTranspose(node)) {
        const auto order = permutation(node, from->size());
        if (axis >= order.size() || order.size() != from->size()) return {};
        return static_cast<std::size_t>(order[axis]);
    }
    const auto& to = graph.tensor(node.output()).shape;
    return to ? sameAxis(*to, axis, *from) : std::nullopt;
}

std::optional<std::size_t> positionsInLastAxis(const Graph& graph, const Node& node, std::size_t axis) {
    const auto& from = graph.tensor(node.input(0)).shape;
    const auto& to = graph.tensor(node.output()).shape;
    if (isTranspose(node) || !from || !to || to->empty()) return {};
    const auto inner = valuesAfter(*from, axis);
    if (!inner || !to->back().known() || to->back().value != (*from)[axis].value * *inner) return {};
    return static_cast<std::size_t>(*inner);
}

}  // namespace quantloupe
