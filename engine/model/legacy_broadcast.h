// SPDX-License-Identifier: Apache-2.0
#pragma once
// Before opset 7, the second operand of Add, Mul and others was broadcast only on request, and could be
// aligned with any axis of the first, for example a bias with the channels. Later opsets align the last axes.

namespace onnx {
class ModelProto;
}

namespace quantloupe {

/// Gives the second operands the trailing dimensions of extent 1 with which later opsets broadcast them in
/// the same way, and removes the attributes. Nodes whose operands have an unknown number of dimensions stay.
void alignOperands(onnx::ModelProto& model);

}  // namespace quantloupe
