// SPDX-License-Identifier: Apache-2.0
#pragma once
// Removes nodes of a file that are no longer read, after control flow was inlined.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace quantloupe {

/// Positions of nodes in a graph, by the names of their only outputs.
using NodePositions = std::map<std::string, int>;

/// The nodes from which these tensors are computed.
NodePositions ancestorsOf(const onnx::GraphProto& graph, const std::map<std::string, std::int64_t>& tensors);
/// The nodes that make and change sequences.
NodePositions sequencesOf(const onnx::GraphProto& graph);

void removeNodes(onnx::GraphProto& graph, const std::set<int>& positions);
/// Removes those of the nodes that are not read, or only by nodes that are removed.
void removeUnread(onnx::GraphProto& graph, const NodePositions& nodes);

}  // namespace quantloupe
