// SPDX-License-Identifier: Apache-2.0
#pragma once
// Other types and shapes of constants for the functions that read them.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quantloupe {

struct ConstantChange {
    int input = 0;  ///< of the node that reads the constant, directly or through a Reshape
    onnx::GraphProto* graph = nullptr;      ///< contains the constant
    onnx::TensorProto* constant = nullptr;  ///< an initializer
    int type = 0;
    std::int64_t rows = 0, columns = 0;
    std::optional<std::string> bytes = {};  ///< instead of the constant's own

    bool isSameAs(const ConstantChange& other) const {
        return constant == other.constant && type == other.type && rows == other.rows &&
               columns == other.columns && bytes == other.bytes;
    }
};

/// Collects changes, so that they are made only if the nodes can be replaced, and other readers of a constant
/// keep it as it is.
class ConstantChanges {
  public:
    /// The node must exist until apply().
    void add(onnx::NodeProto& node, std::vector<ConstantChange> changes) {
        for (ConstantChange& change : changes) m_wanted.emplace_back(&node, std::move(change));
    }
    /// Changes the constants, or copies of those that have other readers, too. A node that reads a Reshape of
    /// a constant then reads the constant. Removes the Reshapes that nothing reads any more.
    void apply(onnx::GraphProto& graph);

  private:
    std::vector<std::pair<onnx::NodeProto*, ConstantChange>> m_wanted;
};

}  // namespace quantloupe
