// SPDX-License-Identifier: Apache-2.0
#pragma once
// ONNX's rules for the nodes of each operator: number of inputs and outputs, types and ranges of attributes.
// Checked when a model is loaded, before anything else (ONNX's shape inference, our kernels) relies on them.
//
// Source: the operator schemas of ONNX 1.23, with all versions of each operator combined: a node is accepted
// if any opset allows it. Operators of other domains are not checked.

#include <string_view>

#include "model/graph.h"

namespace quantloupe {

/// Throws Error (BadInput) if a node has too few, too many or omitted inputs, too many outputs, or an
/// attribute of another type, out of range, or with a name that is reserved for fusions. `formalInputs`: the
/// number of inputs without those captured by subgraphs.
void checkSignature(const Node& node, std::size_t formalInputs);

/// Whether each value of the output depends on one value of each input, whose shapes are broadcast (ai.onnx).
bool isElementwise(std::string_view op);

/// Whether ONNX has this operator (ai.onnx).
bool isOperator(std::string_view op);

/// Throws Error (Unsupported) if a node has an attribute that no version of the operator has: one of a later
/// version of ONNX would change the results.
void requireKnownAttributes(const Node& node);

}  // namespace quantloupe
