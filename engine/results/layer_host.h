// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which layer computes a node that was folded or fused.

#include <cstddef>
#include <vector>

#include "results/evaluation.h"

namespace quantloupe {

/// Returns the index of the layer that computes the node: its host, or the host's host if that was folded or
/// fused, too. A node that was removed without a host passes its input on unchanged, so that the layer before
/// it counts. Returns the node itself if it is neither folded nor fused, or reads a graph input or a
/// constant. `layers`: one for each node of the graph.
std::size_t hostOf(const Graph& graph, const std::vector<LayerResult>& layers, std::size_t node);

}  // namespace quantloupe
