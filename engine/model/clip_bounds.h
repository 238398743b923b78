// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>

#include "model/graph.h"

namespace quantloupe {

/// The range that a Relu or Clip limits its input to.
struct ClipBounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};

/// Returns the bounds of an ai.onnx Relu or Clip, wherever the opset stores them; a missing bound is
/// infinite. Returns nothing for other operators and if a bound is computed at run time.
std::optional<ClipBounds> clipBounds(const Graph& graph, const Node& node);

}  // namespace quantloupe
