// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of layers within a block.

#include <QString>
#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe::ui {

/// A layer within its block: the parts of its name below the scope of the block. The operator at the end is
/// left out if its module contains no other of the layers, and otherwise numbered within the block, because
/// some exporters number the operators of the whole network.
using RoleParts = std::vector<std::string>;

/// Returns one role for each of the layers, which are in `scope`; empty scope: roles are numbered operators.
std::vector<RoleParts> rolesIn(const Graph& graph, const std::string& scope,
                               const std::vector<NodeId>& layers);

/// Returns the shortest names that distinguish the roles: the last part, or more if several roles have the
/// same one; without last parts that all roles share. An ending that several roles share is left out: "q",
/// "k" for "q_proj", "k_proj".
std::vector<QString> roleNames(std::vector<RoleParts> roles);

}  // namespace quantloupe::ui
