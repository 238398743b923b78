// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/blocks.h"
#include "picture/shape_groups.h"

namespace quantloupe {
namespace {

constexpr std::size_t kFewestBetweenWaists = 3;

std::vector<Group> groupsByScope(const Graph& graph) {
    std::map<std::string_view, std::size_t> indices;
    std::vector<Group> found;
    for (std::size_t n = 0; n < graph.nodeCount(); ++n) {
        const std::string& path = graph.nodes()[n].path();
        std::size_t parent = Group::kNone;
        for (const std::string_view scope : scopesOf(path)) {
            if (scope.size() + 1 == path.size()) break;
            const auto [at, isNew] = indices.emplace(scope, found.size());
            if (isNew) found.push_back({std::string(scope), {}, parent});
            found[at->second].nodes.push_back(NodeId(n));
            parent = at->second;
        }
    }
    // Drops scopes that contain the same layers as a scope inside them; their children move to their parent.
    std::vector<char> dropped(found.size(), 0);
    for (std::size_t g = 0; g < found.size(); ++g)
        dropped[g] = found[g].nodes.size() < 2 || found[g].nodes.size() == graph.nodeCount();
    for (std::size_t g = 0; g < found.size(); ++g) {
        std::size_t outer = found[g].parent;
        while (outer != Group::kNone && dropped[outer]) outer = found[outer].parent;
        if (outer != Group::kNone && found[outer].nodes.size() == found[g].nodes.size()) dropped[g] = 1;
    }
    std::vector<std::size_t> place(found.size(), Group::kNone);
    std::vector<Group> groups;
    for (std::size_t g = 0; g < found.size(); ++g) {
        if (dropped[g]) continue;
        std::size_t outer = found[g].parent;
        while (outer != Group::kNone && dropped[outer]) outer = found[outer].parent;
        place[g] = groups.size();
        found[g].parent = outer == Group::kNone ? outer : place[outer];
        groups.push_back(std::move(found[g]));
    }
    return groups;
}

/// Returns the parts between waists. Nodes are in topological order, so a node that no edge passes is on
/// every path.
std::vector<Group> groupsBetweenWaists(const Graph& graph) {
    const std::size_t count = graph.nodeCount();
    std::vector<int> passing(count + 1, 0);  // differences
    for (const TensorInfo& tensor : graph.tensors()) {
        if (!tensor.producer.valid()) continue;
        for (const NodeId reader : tensor.consumers) {
            ++passing[tensor.producer.index() + 1];
            --passing[reader.index()];
        }
    }
    std::vector<Group> groups;
    int open = 0;
    std::size_t first = 0;
    for (std::size_t n = 0; n < count; ++n) {
        open += passing[n];
        if (open > 0) continue;
        if (n + 1 - first >= kFewestBetweenWaists) {
            Group group;
            for (std::size_t k = first; k <= n; ++k) group.nodes.push_back(NodeId(k));
            group.name = fmt::format("block {} ({})", groups.size() + 1, graph.nodes()[n].name);
            groups.push_back(std::move(group));
        }
        first = n + 1;
    }
    return groups;
}

/// Marks the level that "all blocks" collapses. It goes deeper if a group contains more than half of the
/// network, or if it mostly consists of parts with the same structure.
void markBlocks(std::size_t nodeCount, std::vector<Group>& groups) {
    std::vector<std::vector<std::size_t>> children(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
        if (groups[g].parent != Group::kNone) children[groups[g].parent].push_back(g);
    std::vector<char> open(groups.size(), 0);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (groups[g].parent != Group::kNone && !open[groups[g].parent]) continue;
        std::map<std::size_t, std::size_t> ofKind;
        std::size_t repeated = 0;
        for (const std::size_t child : children[g]) ++ofKind[groups[child].kind];
        for (const std::size_t child : children[g])
            if (ofKind[groups[child].kind] > 1) repeated += groups[child].nodes.size();
        const std::size_t size = groups[g].nodes.size();
        open[g] = !children[g].empty() && (2 * size > nodeCount || 2 * repeated > size);
        groups[g].block = !groups[g].shape && !open[g] && 2 * size <= nodeCount;
    }
}

}  // namespace

std::vector<Group> findGroups(const Graph& graph) {
    std::vector<Group> groups = groupsByScope(graph);
    if (groups.empty()) groups = groupsBetweenWaists(graph);
    for (Group& group : findShapeGroups(graph)) groups.push_back(std::move(group));
    // Only groups of the same level have the same kind: a block is not compared with a part of another block.
    std::map<std::pair<Version, std::ptrdiff_t>, std::size_t> kinds;
    for (Group& group : groups) {
        const auto level = std::count(group.name.begin(), group.name.end(), '/');
        group.kind =
            kinds.emplace(std::pair(blockShape(graph, {{}, group.nodes}), level), kinds.size()).first->second;
    }
    std::vector<std::size_t> alike(kinds.size(), 0);
    for (const Group& group : groups) ++alike[group.kind];
    for (Group& group : groups) group.alike = alike[group.kind];
    markBlocks(graph.nodeCount(), groups);
    return groups;
}

}  // namespace quantloupe
