// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subgraphs (of If, Loop, Scan) may read tensors of the graphs around them. So that every algorithm sees these edges, a
// node with subgraphs has them as further inputs, after those that the file lists: the union over its subgraphs, sorted
// by name.

#include "model/graph.h"

namespace onnx {
class AttributeProto;
class GraphProto;
}  // namespace onnx

namespace quantloupe {

/// The names of the tensors that the subgraphs of a node capture, sorted: one for each of the node's last inputs.
std::vector<std::string> capturedNames(const Attributes& attributes);
/// The inputs without the captured ones.
std::size_t formalInputs(const Node& node);
/// The names that a subgraph reads and neither computes nor has as inputs or initializers, sorted.
std::vector<std::string> freeNames(const onnx::GraphProto& graph);
/// Lets a subgraph, with those inside it, read other tensors of the graphs around it.
void renameCaptured(onnx::GraphProto& graph, const std::map<std::string, std::string>& names);

}  // namespace quantloupe
