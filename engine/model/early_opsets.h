// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes of early opsets. Before opset 7, the second operand of Add, Mul and others was broadcast only on
// request, and could be aligned with any axis of the first, for example a bias with the channels. Later
// opsets align the last axes. Before opset 6, Cast had the name of a type, such as "FLOAT", instead of its
// number. Before opset 4, the axis of Concat was 1 if it was omitted.

namespace onnx {
class ModelProto;
}

namespace quantloupe {

/// Gives the nodes the form of opset 7. Second operands get the trailing dimensions of extent 1 with which
/// later opsets broadcast them in the same way. If the number of dimensions is unknown, the attribute `axis`
/// stays, and the node is not evaluated.
void updateEarlyOpsets(onnx::ModelProto& model);

}  // namespace quantloupe
