// SPDX-License-Identifier: Apache-2.0
#pragma once
// Before opset 7, the second operand of Add, Mul and others was broadcast only on request, and could be
// aligned with any axis of the first, for example a bias with the channels. Later opsets align the last axes.

namespace onnx {
class ModelProto;
}

namespace quantloupe {

/// Gives the second operands the trailing dimensions of extent 1 with which later opsets broadcast them in
/// the same way, and removes the attributes. If the number of dimensions is unknown, the attribute `axis`
/// stays, and the node is not evaluated.
void alignOperands(onnx::ModelProto& model);

}  // namespace quantloupe
