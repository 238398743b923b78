// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parts of the network that can be drawn as one box.

#include <cstddef>
#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct Group {
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    std::string name;           ///< the scope, "/features/features.3"; without scopes "block 3 (Add_12)"
    std::vector<NodeId> nodes;  ///< in graph order, two or more
    std::size_t parent = kNone; ///< the smallest group that encloses it
    std::size_t kind = 0;       ///< equal for groups of one level that are built alike
    std::size_t alike = 1;      ///< groups of this kind
    bool shape = false;         ///< shape arithmetic, see shape_groups.h
    bool block = false;         ///< of the level that "collapse all" collapses and that is drawn as a frame
};

/// The last part of its name.
std::string groupTitle(const Group& group);

/// Groups by the scopes in the layers' names; where names have none, the parts between waists of the network, if they
/// hold three layers or more. Parents come before their children. A scope that holds the same layers as a smaller one,
/// or all layers, is none. Cost: about O(length of all names + nodes * depth).
std::vector<Group> findGroups(const Graph& graph);

/// The names of what is collapsed: those of `collapsed` and, if `tidy`, of the shape arithmetic that is not in `opened`.
std::vector<std::string> collapsedNames(const std::vector<Group>& groups, const std::vector<std::string>& collapsed, bool tidy,
                                        const std::vector<std::string>& opened);

/// For each node the outermost collapsed group that holds it, or Group::kNone. A group whose collapse would close a circle
/// (data leaves it and comes back) stays open. Names that are no group's are passed over. O(nodes + edges), mostly.
std::vector<std::size_t> collapsedGroups(const Graph& graph, const std::vector<Group>& groups,
                                         const std::vector<std::string>& collapsed);

}  // namespace quantloupe
