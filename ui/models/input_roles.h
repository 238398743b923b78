// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the inputs of an operator are for.

#include <QString>

#include "model/graph.h"

namespace quantloupe::ui {

/// "weight", "bias", "scale", "mean", … for input `index` of the node; empty for operators with no common
/// names, and for the data input. From ONNX's operator specifications.
QString inputRole(const Node& node, std::size_t index);

}  // namespace quantloupe::ui
