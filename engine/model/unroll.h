// SPDX-License-Identifier: Apache-2.0
#pragma once
// Control flow that does not depend on data: exporters write lists of tensors and fixed repetitions of Python
// code as Loop, If and sequence operators. If the number of iterations and the condition are constants of the
// file, the bodies are inlined into the graph, and sequences are replaced by their tensors. So is the branch
// of an If whose condition follows from the shapes of the inputs. The result is an ordinary network whose
// layers can be shown, quantized and exported.

#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace quantloupe {

/// Changes the model's graph in place and reports what was unrolled. Control flow that depends on the data,
/// or on sizes that the inputs do not fix, is kept (runtime/operators/control.cpp).
void unrollConstantControlFlow(onnx::ModelProto& model, std::vector<std::string>& notices);

}  // namespace quantloupe
