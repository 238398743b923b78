// SPDX-License-Identifier: Apache-2.0
#pragma once
// Repeats Q/DQ pairs at operators that only copy values, as ONNX Runtime's optimizer does.

#include "model/graph.h"

namespace quantloupe {

/// Adds Q/DQ pairs to a quantized graph so that MaxPool, Reshape, Transpose and other operators that copy
/// values are between two pairs wherever they are next to one. The new pairs have the scale and zero point of
/// their neighbor, so that no value changes. The bias after a MatMul in float that follows a pair gets the
/// shape [1, N]: ONNX Runtime would merge the two into a Gemm between two operators Reshape, which copy
/// values.
///
/// ONNX Runtime's QDQPropagationTransformer would add the same pairs. From opset 21 on, it sets
/// `output_dtype` of new QuantizeLinear nodes, which a later step that turns int8 into uint8 does not change:
/// such a model cannot be loaded ("output_dtype INT8 does not match y_zero_point type UINT8", versions 1.27
/// to 1.32 on x86). So this function only changes graphs with opset 21 or higher and pairs of type int8.
/// Returns `graph` if there is nothing to change.
GraphPtr spreadPairs(const GraphPtr& graph);

}  // namespace quantloupe
