// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ONNX says of the nodes of each operator: how many inputs and outputs, and the types and ranges of attributes.
// Checked when a model is loaded, before anything (ONNX's shape inference, our kernels) relies on it.
//
// Source: the operator schemas of ONNX 1.23, all versions of each operator taken together: a node that some opset allows
// is accepted. Operators of other domains, and attributes that are not listed, are not checked.

#include "model/graph.h"

namespace quantloupe {

/// Throws Error (BadInput) where a node has too few, too many or omitted inputs, too many outputs, or an attribute of
/// another type or out of range. `formalInputs`: without what its subgraphs capture.
void checkSignature(const Node& node, std::size_t formalInputs);

}  // namespace quantloupe
