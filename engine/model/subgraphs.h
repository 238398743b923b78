// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subgraphs (of If, Loop, Scan) may read tensors of the outer graphs. So that every algorithm sees these
// edges, a node with subgraphs has them as additional inputs after those in the file: the union over its
// subgraphs, sorted by name.

#include "model/graph.h"

namespace onnx {
class AttributeProto;
class GraphProto;
}  // namespace onnx

namespace quantloupe {

/// The names of the tensors that a node's subgraphs capture, sorted; they are the last inputs of the node.
std::vector<std::string> capturedNames(const Attributes& attributes);
/// The number of inputs without the captured ones.
std::size_t formalInputs(const Node& node);
/// The names that a subgraph reads but neither computes nor has as inputs or initializers, sorted.
std::vector<std::string> freeNames(const onnx::GraphProto& graph);
/// Renames the outer tensors that a subgraph and its nested subgraphs read, but not tensors of their own with
/// the same names.
void renameCaptured(onnx::GraphProto& graph, const std::map<std::string, std::string>& names);

}  // namespace quantloupe
