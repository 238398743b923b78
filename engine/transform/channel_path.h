// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a tensor's channels are behind operators that only arrange values anew.

#include <cstdint>
#include <optional>

#include "model/graph.h"

namespace quantloupe {

/// Flatten, Reshape, Squeeze, Unsqueeze, Transpose, Identity, Dropout: one input, every value kept.
bool arrangesAnew(const Graph& graph, const Node& node);

/// The axis of the node's output that runs over what `axis` of its data ran over, with nothing else in it; nothing if there is none,
/// or if shapes that tell are not known. The batch may be open.
std::optional<std::size_t> axisBehind(const Graph& graph, const Node& node, std::size_t axis);
/// The same the other way: the axis of the data.
std::optional<std::size_t> axisBefore(const Graph& graph, const Node& node, std::size_t axis);

/// The last axis of the output runs over `axis` of the data and all axes behind it: how many values each channel has there ([N, C, H, W]
/// flattened to [N, C H W]: H W). Nothing if it does not.
std::optional<std::size_t> positionsInLastAxis(const Graph& graph, const Node& node, std::size_t axis);

}  // namespace quantloupe
