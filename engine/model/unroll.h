// SPDX-License-Identifier: Apache-2.0
#pragma once
// Control flow that decides nothing: exporters write lists of tensors and fixed repetitions of Python code as Loop, If and
// sequence operators. Where the number of iterations and the condition are constants of the file, the bodies are put into
// the graph, and sequences become the tensors that they consist of. What remains is an ordinary network, whose layers can
// be seen, quantized and exported.

#include <string>
#include <vector>

namespace onnx {
class GraphProto;
}

namespace quantloupe {

/// Changes the graph in place and reports what was unrolled. Control flow that depends on the data, or on shapes that
/// are only known when the network runs, stays as it is (runtime/ops_control.cpp).
void unrollConstantControlFlow(onnx::GraphProto& graph, std::vector<std::string>& notices);

}  // namespace quantloupe
