// SPDX-License-Identifier: Apache-2.0
#pragma once
// Repeated blocks: parts of the network that were made by the same code.

#include <string>
#include <string_view>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct Block {
    std::string scope;          ///< "/features/features.3"
    std::vector<NodeId> nodes;  ///< in graph order
};

/// The scopes that a name lies in, outermost first: "/a" and "/a/b" of "/a/b/c". Scopes of more than 64 parts or 1,000 characters do
/// not count: no exporter writes them, and their number times their length would be quadratic.
std::vector<std::string_view> scopesOf(std::string_view name);

/// A hash of what blocksLike() compares: equal for blocks that are built alike. O(the block's edges).
Version blockShape(const Graph& graph, const Block& block);

/// The scope is the part of a name before its last slashes: the nodes of "/features/features.3" are those whose names begin with
/// "/features/features.3/". All scopes of as many parts that are built like `scope`, itself first: the same operators with the same
/// attributes in graph order, wired in the same way. Widths may differ, and with them the groups of a grouped convolution. A layer's own
/// name stands for a block of that layer alone. Empty if no node lies in `scope`. O(nodes + edges).
std::vector<Block> blocksLike(const Graph& graph, const std::string& scope);

}  // namespace quantloupe
