// SPDX-License-Identifier: Apache-2.0
#pragma once
// Roles of the inputs of an operator.

#include <QString>

#include "model/graph.h"

namespace quantloupe::ui {

/// Returns "weight", "bias", "scale", "mean", … for input `index` of the node; empty for the data input, and
/// for operators without common names. Source: ONNX operator specifications.
QString inputRole(const Node& node, std::size_t index);

}  // namespace quantloupe::ui
