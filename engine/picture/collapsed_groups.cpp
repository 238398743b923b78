// SPDX-License-Identifier: Apache-2.0
// Collapsing merges nodes, which can create a cycle if data flows out of a group and back in, directly or
// through another group. Strongly connected components of the merged graph (Tarjan's algorithm, SIAM J.
// Comput. 1(2), 1972, without recursion) with more than one member contain such cycles. Their groups are
// opened, and the rest is checked again until there are no cycles. Each round opens a group; mostly one or
// two rounds are needed.
#include <algorithm>
#include <set>

#include "picture/groups.h"

namespace quantloupe {
namespace {

/// The component of each of `count` nodes.
std::vector<std::size_t> components(std::size_t count, const std::vector<std::vector<std::size_t>>& out) {
    constexpr std::size_t kNew = static_cast<std::size_t>(-1);
    std::vector<std::size_t> index(count, kNew), low(count, 0), component(count, kNew), stack;
    std::vector<std::pair<std::size_t, std::size_t>> path;  // node and the next of its edges
    std::size_t next = 0, found = 0;
    for (std::size_t start = 0; start < count; ++start) {
        if (index[start] != kNew) continue;
        path.emplace_back(start, 0);
        while (!path.empty()) {
            auto& [node, edge] = path.back();
            if (edge == 0) {
                index[node] = low[node] = next++;
                stack.push_back(node);
            }
            if (edge < out[node].size()) {
                const std::size_t to = out[node][edge++];
                if (index[to] == kNew)
                    path.emplace_back(to, 0);
                else if (component[to] == kNew)
                    low[node] = std::min(low[node], index[to]);
                continue;
            }
            const std::size_t done = node;
            if (low[done] == index[done]) {
                std::size_t member = kNew;
                do {
                    member = stack.back();
                    stack.pop_back();
                    component[member] = found;
                } while (member != done);
                ++found;
            }
            path.pop_back();
            if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[done]);
        }
    }
    return component;
}

}  // namespace

std::vector<std::string> collapsedNames(const std::vector<Group>& groups,
                                        const std::vector<std::string>& collapsed, bool tidy,
                                        const std::vector<std::string>& opened) {
    std::vector<std::string> names = collapsed;
    if (!tidy) return names;
    const std::set<std::string> open(opened.begin(), opened.end());
    for (const Group& group : groups)
        if (group.shape && !open.contains(group.name)) names.push_back(group.name);
    return names;
}

std::vector<std::size_t> collapsedGroups(const Graph& graph, const std::vector<Group>& groups,
                                         const std::vector<std::string>& collapsed) {
    const std::set<std::string> chosen(collapsed.begin(), collapsed.end());
    std::vector<char> closed(groups.size(), 0);
    for (std::size_t g = 0; g < groups.size(); ++g) closed[g] = chosen.contains(groups[g].name);
    while (true) {
        std::vector<std::size_t> groupOf(graph.nodeCount(), Group::kNone);
        bool any = false;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (!closed[g]) continue;
            // parents come first, and shape arithmetic last, which may lie across scopes
            std::size_t taken = 0;
            for (const NodeId node : groups[g].nodes) taken += groupOf[node.index()] != Group::kNone;
            if (taken > 0) continue;
            any = true;
            for (const NodeId node : groups[g].nodes) groupOf[node.index()] = g;
        }
        if (!any) return groupOf;
        const std::size_t count = graph.nodeCount();
        const auto merged = [&](std::size_t node) {
            return groupOf[node] == Group::kNone ? node : count + groupOf[node];
        };
        std::vector<std::vector<std::size_t>> out(count + groups.size());
        for (const TensorInfo& tensor : graph.tensors()) {
            if (!tensor.producer.valid()) continue;
            const std::size_t from = merged(tensor.producer.index());
            for (const NodeId reader : tensor.consumers)
                if (merged(reader.index()) != from) out[from].push_back(merged(reader.index()));
        }
        const std::vector<std::size_t> component = components(out.size(), out);
        std::vector<std::size_t> members(out.size(), 0);
        for (const std::size_t c : component) ++members[c];
        bool opened = false;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (!closed[g] || members[component[count + g]] < 2) continue;
            closed[g] = 0;
            opened = true;
        }
        if (!opened) return groupOf;
    }
}

}  // namespace quantloupe
