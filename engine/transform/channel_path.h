// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tracks the axis of a tensor's channels through operators that only rearrange values.

#include <optional>

#include "model/graph.h"

namespace quantloupe {

/// Whether the node is a Flatten, Reshape, Squeeze, Unsqueeze, Transpose, Identity or Dropout with one input
/// that keeps every value.
bool rearrangesValues(const Graph& graph, const Node& node);

/// The axis of the node's output that corresponds exactly to `axis` of its data input; empty if there is
/// none, or if the required shapes are unknown. The batch size may be unknown.
std::optional<std::size_t> axisAfter(const Graph& graph, const Node& node, std::size_t axis);
/// The inverse: the axis of the data input that corresponds to `axis` of the output.
std::optional<std::size_t> axisBefore(const Graph& graph, const Node& node, std::size_t axis);

/// If the last axis of the output consists of `axis` of the data input and all axes after it, returns the
/// number of values per channel in it ([N, C, H, W] flattened to [N, C H W]: H W). Otherwise empty.
std::optional<std::size_t> positionsInLastAxis(const Graph& graph, const Node& node, std::size_t axis);

}  // namespace quantloupe
