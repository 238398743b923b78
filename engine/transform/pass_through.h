// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators that commute with a positive factor per channel.

#include <string>

#include "model/graph.h"

namespace quantloupe {

/// Returns why scaling channel c (axis 1) of the node's data by s > 0 does not simply scale channel c of its
/// output by s; empty if it does. Supports operators with one data input: activations, pooling, padding,
/// resizing, slices of positions, reductions over positions. The numbers of channels before and after the
/// node must be equal.
std::string whyScaleStops(const Graph& graph, const Node& node);

/// Whether the node passes its data on unchanged: an Identity, or a Dropout in inference mode whose mask is
/// not read.
bool isIdentity(const Graph& graph, const Node& node);
/// Follows such operators downstream as long as they are the only readers, and returns the last tensor;
/// `tensor` itself if there are none.
TensorId tensorBeyondIdentities(const Graph& graph, TensorId tensor);
/// The node that produces the tensor, ignoring such operators; invalid for an input, or if one of them has
/// other readers, too.
NodeId producerBeyondIdentities(const Graph& graph, TensorId tensor);

}  // namespace quantloupe
