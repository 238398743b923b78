// SPDX-License-Identifier: Apache-2.0
#pragma once
// The nodes that another tool must keep in float to compute the same as the preview.

#include <string>
#include <vector>

#include "interchange/file_format.h"

namespace quantloupe {

struct FloatNode {
    std::string layer;                       ///< name in the source
    std::string name;                        ///< name in the prepared model
    std::string op;                          ///< in the prepared model
    std::string output;                      ///< its first output tensor, in the prepared model
    LayerState state = LayerState::Skipped;  ///< Skipped, Float, or Fused into such a layer
};

/// Returns every node of the prepared model that does not compute with integers, in graph order.
std::vector<FloatNode> floatNodes(const ExportSource& source);

/// Returns the names of the nodes whose operator is in `ops`, for tools that quantize only certain operators.
std::vector<std::string> namesOf(const std::vector<FloatNode>& nodes,
                                 const std::vector<std::string_view>& ops);

/// Returns one notice per operator that is quantized here but not by the tool: "ONNX Runtime leaves Erf in
/// float: 2 layers".
std::vector<std::string> unknownOperatorNotices(const ExportSource& source, std::string_view tool,
                                                const std::vector<std::string_view>& ops);

}  // namespace quantloupe
