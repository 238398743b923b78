// SPDX-License-Identifier: Apache-2.0
#pragma once
// ONNX's protobuf messages to our values and back. For the few places that read or write ONNX files themselves;
// protobuf's headers stay out of the rest.

#include <filesystem>
#include <memory>
#include <set>

#include "model/graph.h"

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace quantloupe {

/// The tensor's value; raw bytes are referred to, not copied (`owner` keeps the message alive). External data must lie
/// inside `folder`. Throws Error.
ConstantPtr constantFromProto(const onnx::TensorProto& tensor, const std::shared_ptr<const void>& owner,
                              const std::filesystem::path& folder);
AttributeValue attributeFromProto(const onnx::NodeProto& node, int index, const std::shared_ptr<const void>& owner,
                                  const std::filesystem::path& folder);
/// The files with external data that the graph's initializers and attributes refer to, also those of its subgraphs.
std::set<std::filesystem::path> externalFiles(const onnx::GraphProto& graph, const std::filesystem::path& folder);

void constantToProto(const Constant& constant, onnx::TensorProto& tensor);
void graphToProto(const Graph& graph, onnx::ModelProto& model);

}  // namespace quantloupe
