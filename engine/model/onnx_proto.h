// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts ONNX's protobuf messages to our types and back. For the few places that read or write ONNX files;
// protobuf's headers are not included anywhere else.

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/graph.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace quantloupe {

/// Returns the elements of a scalar or list of int64, int32 or bool that is stored in the file; empty for
/// other tensors, and for more elements than any shape has.
std::optional<std::vector<std::int64_t>> integersOf(const onnx::TensorProto& tensor);
/// Returns the value of a single int64, int32 or bool that is stored in the file; empty for other tensors.
std::optional<std::int64_t> scalarOf(const onnx::TensorProto& tensor);

/// Returns the tensor's value; raw bytes are referenced, not copied (`owner` keeps the message alive).
/// External data must be inside `folder`. Throws Error.
ConstantPtr constantFromProto(const onnx::TensorProto& tensor, const std::shared_ptr<const void>& owner,
                              const std::filesystem::path& folder);
AttributeValue attributeFromProto(const onnx::NodeProto& node, int index,
                                  const std::shared_ptr<const void>& owner,
                                  const std::filesystem::path& folder);
/// The external data files that initializers and attributes of the graph refer to, including those of its
/// subgraphs.
std::set<std::filesystem::path> externalFiles(const onnx::GraphProto& graph,
                                              const std::filesystem::path& folder);

/// Returns the attribute of this name; null if there is none.
const onnx::AttributeProto* attributeOf(const onnx::NodeProto& node, const std::string& name);
/// Whether this is the domain of ONNX's own operators.
bool isStandardDomain(const std::string& domain);
/// Adds the names of all tensors of the graph and its subgraphs.
void collectNames(const onnx::GraphProto& graph, std::set<std::string>& names);

void constantToProto(const Constant& constant, onnx::TensorProto& tensor);
void graphToProto(const Graph& graph, onnx::ModelProto& model);

}  // namespace quantloupe
