// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parts of the network that can be collapsed to one box.

#include <cstddef>
#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct Group {
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    std::string name;            ///< the scope, "/features/features.3"; without scopes "block 3 (Add_12)"
    std::vector<NodeId> nodes;   ///< in graph order, two or more
    std::size_t parent = kNone;  ///< the smallest group that encloses it
    std::size_t kind = 0;        ///< equal for groups of one level with the same structure
    std::size_t alike = 1;       ///< number of groups of this kind
    bool shape = false;          ///< shape arithmetic, see shape_groups.h
    bool block = false;          ///< on the level that "collapse all" collapses and that is drawn as a frame
};

/// Returns the last part of the group's name.
std::string groupTitle(const Group& group);

/// Finds groups by the scopes in the layers' names or, if names have no scopes, by the parts between waists
/// of the network with three layers or more. Parents come before their children. A scope with the same layers
/// as a smaller one, or with all layers, is not a group. Cost: about O(length of all names + nodes * depth).
std::vector<Group> findGroups(const Graph& graph);

/// Returns the names of collapsed groups: `collapsed` and, if `tidy`, the shape arithmetic that is not in
/// `opened`.
std::vector<std::string> collapsedNames(const std::vector<Group>& groups,
                                        const std::vector<std::string>& collapsed, bool tidy,
                                        const std::vector<std::string>& opened);

/// Returns for each node the outermost collapsed group that contains it, or Group::kNone. A group whose
/// collapse would create a cycle (data flows out of the group and back in) stays open. Unknown names are
/// ignored. Mostly O(nodes + edges).
std::vector<std::size_t> collapsedGroups(const Graph& graph, const std::vector<Group>& groups,
                                         const std::vector<std::string>& collapsed);

}  // namespace quantloupe
