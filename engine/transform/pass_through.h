// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which operators a channel's positive factor passes unchanged.

#include <string>

#include "model/graph.h"

namespace quantloupe {

/// Why scaling channel c (axis 1) of the node's data by s > 0 would not simply scale channel c of its output by s;
/// empty if it would. Judges one-input operators: activations, pooling, padding, reductions over positions.
std::string whyScaleStops(const Graph& graph, const Node& node);

/// Identity, and Dropout that is not told to train and whose mask nobody reads: the data passes on as it is.
bool isIdentity(const Graph& graph, const Node& node);
/// The tensor behind all such operators that are the only readers of what comes before them; `tensor` itself
/// if there are none.
TensorId tensorBeyondIdentities(const Graph& graph, TensorId tensor);
/// The node that makes the tensor, such operators left out; invalid for an input, or where one of them has
/// other readers, too.
NodeId producerBeyondIdentities(const Graph& graph, TensorId tensor);

}  // namespace quantloupe
