// SPDX-License-Identifier: Apache-2.0
#pragma once
// The nodes that another tool must leave in float, so that it computes what the preview computed.

#include <string>
#include <vector>

#include "interchange/dialect.h"

namespace quantloupe {

struct FloatNode {
    std::string layer;   ///< name in the source
    std::string name;    ///< name in the prepared model
    std::string op;      ///< in the prepared model
    std::string output;  ///< the first tensor that it makes, in the prepared model
    LayerState state = LayerState::Skipped;  ///< Skipped, Float, or Fused into a layer that is one of these
};

/// Every node of the prepared model that does not compute with integers, in its order.
std::vector<FloatNode> floatNodes(const ExportSource& source);

/// For tools that decide by operator: the names of those whose operator is among `ops`.
std::vector<std::string> namesOf(const std::vector<FloatNode>& nodes, const std::vector<std::string_view>& ops);

/// Quantized layers whose operator the tool does not quantize, said once an operator: "ONNX Runtime leaves Erf in float: 2 layers".
std::vector<std::string> unknownOperatorNotices(const ExportSource& source, std::string_view tool,
                                                const std::vector<std::string_view>& ops);

}  // namespace quantloupe
