// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranks and widths of tensors before shape inference, which does not know fused operators.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quantloupe {

/// What the graph itself says, and what follows from the nodes that compute a tensor. Keeps pointers to the
/// nodes, and to the shapes of the graph around a subgraph. One thread.
class KnownShapes {
  public:
    explicit KnownShapes(const onnx::GraphProto& graph, const KnownShapes* outer = nullptr);

    /// The number of dimensions.
    std::optional<std::size_t> rank(const std::string& tensor) const { return rankOf(tensor, 0); }
    /// The extent of the last dimension.
    std::optional<std::int64_t> width(const std::string& tensor) const { return widthOf(tensor, 0); }
    /// The extent of the first dimension, if the graph itself says it.
    std::optional<std::int64_t> first(const std::string& tensor) const;

  private:
    template <typename T>
    using Property = std::optional<T> (KnownShapes::*)(const std::string& tensor, int depth) const;

    /// What follows from the node that computes a tensor, or what the outer graph knows of it. `compute` is
    /// called once for each tensor.
    template <typename T, typename Compute>
    std::optional<T> fromProducer(std::map<std::string, std::optional<T>>& known, Property<T> property,
                                  const std::string& tensor, int depth, const Compute& compute) const;
    std::optional<std::size_t> rankOf(const std::string& tensor, int depth) const;
    std::optional<std::size_t> computedRank(const onnx::NodeProto& node, const std::string& tensor,
                                            int depth) const;
    std::optional<std::int64_t> widthOf(const std::string& tensor, int depth) const;
    std::optional<std::int64_t> computedWidth(const onnx::NodeProto& node, const std::string& tensor,
                                              int depth) const;
    /// The number of elements of a list, such as the shape for a Reshape.
    std::optional<std::size_t> lengthOf(const std::string& list, int depth) const;
    std::optional<std::size_t> computedLength(const onnx::NodeProto& node, int depth) const;
    /// What a Slice from one constant to another leaves of an extent.
    std::optional<std::int64_t> slicedExtent(const onnx::NodeProto& node, std::int64_t extent) const;
    std::optional<std::size_t> lengthOfSlice(const onnx::NodeProto& node, int depth) const;
    /// The number of axes that an operator adds or removes.
    std::optional<std::size_t> axesOf(const onnx::NodeProto& node, int depth) const;
    void addConstant(const std::string& name, const onnx::TensorProto& tensor);

    /// What is known of an output of an If: what all its branches agree on.
    template <typename T>
    std::optional<T> ofBranches(const onnx::NodeProto& node, const std::string& tensor, Property<T> property,
                                int depth) const;
    /// The values of a constant list of integers; null if they are unknown.
    const std::vector<std::int64_t>* listOf(const std::string& tensor) const;
    std::optional<std::int64_t> widthAlongAxis(const onnx::NodeProto& node, int depth) const;
    std::optional<std::int64_t> widthOfPart(const onnx::NodeProto& node, const std::string& tensor,
                                            int depth) const;

    const KnownShapes* m_outer;
    std::map<std::string, std::vector<std::int64_t>> m_dims;    ///< -1: unknown
    std::map<std::string, std::vector<std::int64_t>> m_shapes;  ///< values of constants for Reshape
    std::map<std::string, const onnx::NodeProto*> m_producers;
    mutable std::map<std::string, std::optional<std::size_t>> m_ranks;  ///< of tensors that were asked for
    mutable std::map<std::string, std::optional<std::size_t>> m_lengths;
    mutable std::map<std::string, std::optional<std::int64_t>> m_widths;
};

}  // namespace quantloupe
