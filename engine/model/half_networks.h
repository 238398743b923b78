// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks that were saved in half or double precision. The tools that quantize a network expect float32, and
// so do the kernels of this engine: when such a network is read, these tensors become float32. Every value of
// a half type is exact in float32; those of float64 are rounded, and finite ones stay finite.

#include <filesystem>

namespace onnx {
class GraphProto;
}

namespace quantloupe {

/// Returns whether any operator, also in a subgraph, computes in float16 or bfloat16. Moving and casting does
/// not count: weights that are only stored in half precision, and cast before they are used, stay as they
/// are.
bool computesInHalf(const onnx::GraphProto& graph);

/// Returns whether the network has float64 weights and computes with an input that is float64. The float64
/// tensors of other networks, for example of positional encodings, stay as they are.
bool computesInDouble(const onnx::GraphProto& graph);

/// Replace float16 and bfloat16, or float64, with float32 in all tensors and types of the graph and its
/// subgraphs. External data is read from `folder` and becomes part of the graph. Throw Error if it cannot be
/// read.
void halfToFloat32(onnx::GraphProto& graph, const std::filesystem::path& folder);
void doubleToFloat32(onnx::GraphProto& graph, const std::filesystem::path& folder);

}  // namespace quantloupe
