// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/graph.h"

namespace quantloupe {

/// Returns the value that an ai.onnx Pad of mode "constant" adds, wherever the opset stores it; nothing if it
/// is computed at run time.
inline std::optional<double> padValue(const Graph& graph, const Node& node) {
    if (!node.input(2).valid()) return node.attributes.real("value", 0);  // the attribute: up to opset 10
    const Constant* value = graph.constantOf(node.input(2));
    return value != nullptr && value->size() == 1 ? std::optional(value->scalar()) : std::nullopt;
}

}  // namespace quantloupe
