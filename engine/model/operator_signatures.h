// SPDX-License-Identifier: Apache-2.0
#pragma once
// ONNX's rules for the nodes of each operator: number of inputs and outputs, types and ranges of attributes.
// Checked when a model is loaded, before anything else (ONNX's shape inference, our kernels) relies on them.
//
// Source: the operator schemas of ONNX 1.23, with all versions of each operator combined: a node is accepted
// if any opset allows it. Operators of other domains and attributes that are not listed are not checked.

#include "model/graph.h"

namespace quantloupe {

/// Throws Error (BadInput) if a node has too few, too many or omitted inputs, too many outputs, or an
/// attribute of another type or out of range. `formalInputs`: the number of inputs without those captured by
/// subgraphs.
void checkSignature(const Node& node, std::size_t formalInputs);

}  // namespace quantloupe
