// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clip(0, 6) becomes Relu, over which equalization can pass.

#include <string>
#include <vector>

#include "config/quantization_config.h"
#include "model/graph.h"

namespace quantloupe {

/// The bounds of an ai.onnx Clip: attributes before opset 11, constants from then on.
struct ClipBounds {
    double low = 0, high = 0;
};
/// Nothing for other operators and for bounds that are missing or computed while running.
std::optional<ClipBounds> clipBounds(const Graph& graph, const Node& node);

/// The Clip(0, 6) nodes that the mode asks for, in graph order. `between`: the producer is a Conv or
/// ConvTranspose and so is the only reader; `all`: every one.
std::vector<NodeId> findRelu6(const Graph& graph, ReplaceRelu6 mode);

/// The graph with these Clips as Relu, under their old names. Node ids stay as they are. Exact only as long
/// as no value exceeds 6.
GraphPtr replaceByRelu(const GraphPtr& graph, const std::vector<NodeId>& clips);

/// Of these Clips, those whose lower bound is an initializer. AIMET (2.42) recognizes only an attribute or a
/// Constant node, and leaves them as they are.
std::size_t clipsThatAimetLeaves(const Graph& graph, const std::vector<NodeId>& clips);

}  // namespace quantloupe
