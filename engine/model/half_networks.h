// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks that were saved in half precision. The tools that quantize a network expect float32, and so do the
// kernels of this engine: when such a network is read, its float16 and bfloat16 tensors become float32. Every
// value of a half type is exact in float32.

#include <filesystem>

namespace onnx {
class GraphProto;
}

namespace quantloupe {

/// Returns whether any operator, also in a subgraph, computes in float16 or bfloat16. Moving and casting does
/// not count: weights that are only stored in half precision, and cast before they are used, stay as they
/// are.
bool computesInHalf(const onnx::GraphProto& graph);

/// Replaces float16 and bfloat16 by float32 in all tensors and types of the graph and its subgraphs. External
/// data is read from `folder` and becomes part of the graph. Throws Error if it cannot be read.
void widenHalf(onnx::GraphProto& graph, const std::filesystem::path& folder);

}  // namespace quantloupe
