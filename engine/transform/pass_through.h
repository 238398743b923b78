// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which operators a channel's positive factor passes unchanged.

#include <string>

#include "model/graph.h"

namespace quantloupe {

/// Why scaling channel c (axis 1) of the node's data by s > 0 would not simply scale channel c of its output by s;
/// empty if it would. Judges one-input operators: activations, pooling, padding, reductions over positions.
std::string whyScaleStops(const Graph& graph, const Node& node);

}  // namespace quantloupe
