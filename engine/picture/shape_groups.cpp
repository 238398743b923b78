// SPDX-License-Identifier: Apache-2.0
// A layer is shape arithmetic if it is Shape or Size, or if it reads only constants and shape arithmetic.
// Connected layers of this kind form a group if the same number of other layers precedes them on the longest
// path. A path that left a group through another layer and came back would increase this number, so
// collapsing any number of groups creates no cycle.
#include "picture/shape_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/disjoint_sets.h"
#include "model/operator_traits.h"

namespace quantloupe {

std::vector<Group> findShapeGroups(const Graph& graph) {
    const std::size_t count = graph.nodeCount();
    std::vector<char> shape(count, 0);
    std::vector<std::size_t> before(count, 0);
    DisjointSets sets(count);
    for (std::size_t n = 0; n < count; ++n) {
        const Node& node = graph.nodes()[n];
        bool only = true, any = false;
        for (const TensorId input : node.inputs) {
            if (!input.valid()) continue;
            const TensorInfo& tensor = graph.tensor(input);
            if (tensor.constant) continue;
            any = true;
            if (!tensor.producer.valid()) {
                only = false;
                continue;
            }
            const std::size_t from = tensor.producer.index();
            only = only && shape[from];
            before[n] = std::max(before[n], before[from] + (shape[from] ? 0 : 1));
        }
        shape[n] = readsOnlyShape(node) || (any && only);
        if (!shape[n]) continue;
        for (const TensorId input : node.inputs) {
            if (!input.valid() || !graph.tensor(input).producer.valid()) continue;
            const std::size_t from = graph.tensor(input).producer.index();
            if (shape[from] && before[from] == before[n]) sets.join(from, n);
        }
    }
    std::map<std::size_t, std::vector<NodeId>> parts;
    for (std::size_t n = 0; n < count; ++n)
        if (shape[n]) parts[sets.find(n)].push_back(NodeId(n));
    std::vector<Group> groups;
    for (auto& [first, nodes] : parts) {
        if (nodes.size() < 2) continue;
        Group group;
        group.name = fmt::format("shape arithmetic from {}", graph.nodes()[first].name);
        group.nodes = std::move(nodes);
        group.shape = true;
        groups.push_back(std::move(group));
    }
    return groups;
}

}  // namespace quantloupe
