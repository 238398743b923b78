// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of tensors that are joined, as PyTorch writes torch.stack() and torch.cat() of a Python list.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
}

namespace quantloupe {

/// Turns the ConcatFromSequence at this position into a Concat of the tensors. With new_axis, each of them
/// gets the axis before, in an Unsqueeze of this opset. `names`: all names of tensors, which is updated.
void becomeConcat(onnx::GraphProto& graph, int position, const std::vector<std::string>& tensors,
                  std::int64_t opset, std::set<std::string>& names);

/// Turns lists that a Loop appends to, and that ConcatFromSequence joins after it, into scan outputs of the
/// Loop: PyTorch writes `for ...: outputs.append(h)` in this way. Returns the number of lists. Negative axes
/// of ConcatFromSequence, and lists with other readers, stay as they are.
std::size_t appendedListsBecomeScanOutputs(onnx::GraphProto& graph);

}  // namespace quantloupe
