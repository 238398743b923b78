// SPDX-License-Identifier: Apache-2.0
#pragma once
// Types and shapes of tensors: those in the file, and those that ONNX's shape inference finds.

#include <optional>

#include "model/graph_builder.h"

namespace onnx {
class GraphProto;
class ModelProto;
class TypeProto;
class ValueInfoProto;
}  // namespace onnx

namespace quantloupe {

/// Returns the shape of a tensor type; empty if the type does not contain one.
std::optional<Shape> shapeOf(const onnx::TypeProto& type);

/// Adds the type and shape to the tensor of this name, unless the tensor has them already.
void noteType(GraphBuilder& builder, const onnx::ValueInfoProto& value);

/// Returns the shapes that ONNX's inference finds from the shapes of the inputs and the constants alone, as
/// value_info. Shapes in the file, which some tools write wrong, are ignored. Tensors after control flow are
/// unknown.
onnx::GraphProto shapesFromInputs(const onnx::ModelProto& model);

/// Adds what ONNX's shape inference finds. Nodes of other domains and control flow are left out. If the
/// inference rejects the shapes in the file, it runs again without them; what it cannot infer stays unknown.
/// If something does, it runs again with the sizes in assumed_sizes.h (TensorInfo::assumedDims).
void inferShapes(const onnx::ModelProto& model, GraphBuilder& builder);

}  // namespace quantloupe
